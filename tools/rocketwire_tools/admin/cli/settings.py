"""How to connect: one list of settings, each from an option, else the environment, else a profile.

Rules of this file: a setting has the same name everywhere: ``--access-key``, ``ROCKETWIRE_ACCESS_KEY`` and ``access-key = "..."``
in a profile.  An empty variable is one that is not set.
"""

from __future__ import annotations

import argparse
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocketwire.client.config import NAMESRV_ADDR_ENV
from rocketwire_tools.admin.cli.arguments import seconds
from rocketwire_tools.admin.command import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PROFILE_ENV: Final = "ROCKETWIRE_PROFILE"
PROFILE_FILE_ENV: Final = "ROCKETWIRE_PROFILE_FILE"
DEFAULT_PROFILE: Final = "default"
"""The profile of whoever names none; it need not be there."""

_PREFIX: Final = "setting_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One of them.

    Attributes:
        name: as option, without the dashes.
        help: one line.
        metavar: what the option takes; None for a switch.
        others: further names of the option.
        variables: of the environment, beside the one that follows from the name.
        number: whether it is a number of seconds.
    """

    name: str
    help: str
    metavar: str | None = None
    others: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    number: bool = False

    @property
    def attribute(self) -> str:
        """Its name among parsed arguments."""
        return _PREFIX + self.name.replace("-", "_")

    @property
    def all_variables(self) -> tuple[str, ...]:
        """Variables of the environment, the first one that is set counts."""
        return ("ROCKETWIRE_" + self.name.upper().replace("-", "_"), *self.variables)


SETTINGS: Final = (
    Setting(
        "namesrv-addr",
        "name servers, as host:port;host:port",
        "ADDR",
        others=("-n", "--namesrvAddr", "--nameserverAddr"),  # mqadmin has both
        variables=(NAMESRV_ADDR_ENV,),
    ),
    Setting("access-key", "sign requests as this user", "KEY"),
    Setting("secret-key", "with this secret; better in the environment or a profile", "KEY"),
    Setting("security-token", "of temporary credentials", "TOKEN"),
    Setting("tls", "encrypt connections; goes without saying with the options below"),
    Setting("ca", "certificates (PEM) that vouch for servers", "FILE"),
    Setting("cert", "own certificate (PEM), where servers ask for one", "FILE"),
    Setting("key-file", "its private key (PEM), unless it is in the same file", "FILE"),
    Setting("key-password", "of an encrypted key; better in the environment or a profile", "TEXT"),
    Setting("insecure", "believe any certificate"),
    Setting("tls-server-name", "the name that certificates have to have", "NAME"),
    Setting("namespace", "written in front of topics and groups", "NAME"),
    Setting("request-timeout", "seconds for a call (default 5)", "SECONDS", number=True),
)


def add_settings(parser: argparse.ArgumentParser, taken: Collection[str] = ()) -> None:
    """Add the options, in a group of their own.

    Args:
        parser: where to.
        taken: options that mean something else there.
    """
    group = parser.add_argument_group(
        "connection", "Each is also read from ROCKETWIRE_... and from the profile, in this order."
    )
    for one in SETTINGS:
        names = [name for name in (*one.others, f"--{one.name}") if name not in taken]
        if not names:
            continue
        if one.metavar is None:
            group.add_argument(
                *names,
                dest=one.attribute,
                default=argparse.SUPPRESS,
                action=argparse.BooleanOptionalAction,
                help=one.help,
            )
        else:
            group.add_argument(
                *names,
                dest=one.attribute,
                default=argparse.SUPPRESS,
                metavar=one.metavar,
                help=one.help,
                type=seconds if one.number else str,
            )
    for name, metavar, text in (
        ("profile", "NAME", "a profile of the file (default: default, if there is one)"),
        ("profile-file", "FILE", "where profiles are (default ~/.config/rocketwire/admin.toml)"),
    ):
        group.add_argument(
            f"--{name}",
            dest=_PREFIX + name.replace("-", "_"),
            default=argparse.SUPPRESS,
            metavar=metavar,
            help=text,
        )


def settings_of(
    arguments: argparse.Namespace, environment: Mapping[str, str]
) -> dict[str, str | bool | float]:
    """What is set, by name.

    Raises:
        UsageError: the profile is not there or cannot be read, or a value is not what it should be.
    """
    profile = _profile(arguments, environment)
    found: dict[str, str | bool | float] = {}
    for one in SETTINGS:
        value: Any = getattr(arguments, one.attribute, None)
        source = f"--{one.name}"
        if value is None:
            value, source = _of_environment(one, environment)
        if value is None:
            value, source = profile.get(one.name), f"{one.name} of the profile"
        if value is not None:
            found[one.name] = _checked(one, value, source)
    return found


def _of_environment(one: Setting, environment: Mapping[str, str]) -> tuple[str | None, str]:
    for variable in one.all_variables:
        if environment.get(variable):
            return environment[variable], variable
    return None, ""


_SWITCHES: Final = {"true": True, "1": True, "yes": True, "on": True} | {
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}


def _checked(one: Setting, value: object, source: str) -> str | bool | float:
    if one.metavar is None:
        switch = value if isinstance(value, bool) else _SWITCHES.get(str(value).lower())
        if switch is None:
            raise UsageError(f"{source} is neither true nor false")
        return switch
    if one.number:
        try:
            return seconds(str(value))
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{source}: {error}") from error
    if not isinstance(value, str):
        raise UsageError(f"{source} is no text")
    return value


def default_profile_file(environment: Mapping[str, str]) -> Path:
    """Where profiles are unless somebody says otherwise."""
    home = os.path.expanduser("~")  # Path's raises where nobody has a home, as in some containers
    root = environment.get("XDG_CONFIG_HOME")
    return (Path(root) if root else Path(home, ".config")) / "rocketwire" / "admin.toml"


def _profile(arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Any]:
    name: str | None = getattr(arguments, _PREFIX + "profile", None) or environment.get(PROFILE_ENV)
    file: str | None = getattr(arguments, _PREFIX + "profile_file", None)
    file = file or environment.get(PROFILE_FILE_ENV)
    path = Path(file) if file else default_profile_file(environment)
    if not (file or name or os.path.exists(path)):  # Path's raises where one may not look
        return {}
    try:
        profiles = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"profiles: {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"profiles: {path}: {error}") from error
    loose = [key for key, value in profiles.items() if not isinstance(value, dict)]
    if loose:
        raise UsageError(f"{path}: {loose[0]} is in no profile; [{DEFAULT_PROFILE}] goes above it")
    wanted: dict[str, Any] | None = profiles.get(name or DEFAULT_PROFILE)
    if wanted is None:
        if not name:
            return {}
        raise UsageError(f"there is no profile {name} in {path}; there are: {', '.join(profiles)}")
    return _known(wanted, path)


def _known(profile: dict[str, Any], path: Path) -> dict[str, Any]:
    names = [one.name for one in SETTINGS]
    for name in profile:
        if name not in names:
            raise UsageError(f"{path}: no setting is called {name}; there are: {', '.join(names)}")
    return profile
