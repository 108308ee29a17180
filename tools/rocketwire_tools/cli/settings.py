"""Connection settings: each is read from an option, then the environment, then a profile.

A setting has the same name everywhere: ``--access-key``, ``ROCKETWIRE_ACCESS_KEY`` and
``access-key = "..."`` in a profile. An empty environment variable counts as not set.
"""

from __future__ import annotations

import argparse
import os
import ssl
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rocketwire.client import ClientConfig, Credentials
from rocketwire.client.addresses import build_remap, namespace_of_endpoint, parse_name_servers
from rocketwire.client.config import NAMESRV_ADDR_ENV
from rocketwire.errors import LocalProtocolError
from rocketwire.nearest import did_you_mean
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import Context, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PROFILE_ENV: Final = "ROCKETWIRE_PROFILE"
PROFILE_FILE_ENV: Final = "ROCKETWIRE_PROFILE_FILE"
DEFAULT_PROFILE: Final = "default"
"""The default profile; it need not exist."""

_PREFIX: Final = "setting_"


@dataclass(frozen=True, slots=True)
class Setting:
    name: str  # name of the option without dashes
    help: str  # one line of help
    metavar: str | None = None  # placeholder for the option's value; None for a switch
    aliases: tuple[str, ...] = ()  # further names of the option
    # environment variables in addition to the one derived from the name
    variables: tuple[str, ...] = ()
    number: bool = False  # whether the value is a number of seconds

    @property
    def attribute(self) -> str:
        return _PREFIX + self.name.replace("-", "_")

    @property
    def all_variables(self) -> tuple[str, ...]:
        return ("ROCKETWIRE_" + self.name.upper().replace("-", "_"), *self.variables)


SETTINGS: Final = (
    Setting("namesrv-addr", "name servers: host:port;host:port", "ADDR",
        aliases=("-n", "--namesrvAddr", "--nameserverAddr"),  # mqadmin has both
        variables=(NAMESRV_ADDR_ENV,)),
    Setting("address-map",
        "addresses to connect to in place of registered ones, with * as wildcard",
        "FROM=TO;FROM=TO"),
    Setting("access-key", "access key; requests are signed", "KEY"),
    Setting("secret-key", "secret key; safer in the environment or a profile", "KEY"),
    Setting("security-token", "token of temporary credentials", "TOKEN"),
    Setting("tls", "use TLS; implied by the TLS options below"),
    Setting("ca", "trusted certificates (PEM)", "FILE"),
    Setting("cert", "client certificate (PEM), if servers require one", "FILE"),
    Setting("key-file", "private key (PEM), if it is not in the file of --cert", "FILE"),
    Setting("key-password", "password of the key; safer in the environment or a profile", "TEXT"),
    Setting("insecure", "accept any server certificate"),
    Setting("tls-server-name", "expected name in server certificates", "NAME"),
    Setting("namespace", "prefix for topics and groups, where messages are sent or consumed",
        "NAME"),
    Setting("request-timeout", "timeout of a call in seconds (default 5)", "SECONDS", number=True),
)  # fmt: skip


def add_settings(parser: argparse.ArgumentParser, taken: Collection[str] = ()) -> None:
    group = parser.add_argument_group(
        "connection", "Default values: environment variables ROCKETWIRE_..., then the profile."
    )
    for setting in SETTINGS:
        names = [name for name in (*setting.aliases, f"--{setting.name}") if name not in taken]
        if not names:
            continue
        form: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        if setting.metavar is not None:
            form = {"metavar": setting.metavar, "type": seconds if setting.number else str}
        group.add_argument(
            *names, dest=setting.attribute, default=argparse.SUPPRESS, help=setting.help, **form
        )
    for name, metavar, text in (
        ("profile", "NAME", "name of a profile (default: 'default', if it exists)"),
        ("profile-file", "FILE", "file of profiles (default ~/.config/rocketwire/admin.toml)"),
    ):
        group.add_argument(
            f"--{name}", dest=_PREFIX + name.replace("-", "_"), default=argparse.SUPPRESS,
            metavar=metavar, help=text,
        )  # fmt: skip


def settings_of(
    arguments: argparse.Namespace, environment: Mapping[str, str]
) -> dict[str, str | bool | float]:
    """The values that are set, by name; ``UsageError`` if one or the profile is invalid."""
    profile = _profile(arguments, environment)
    values: dict[str, str | bool | float] = {}
    for setting in SETTINGS:
        value: Any = getattr(arguments, setting.attribute, None)
        source = f"--{setting.name}"
        if value is None:
            value, source = _read_environment(setting, environment)
        if value is None:
            value, source = profile.get(setting.name), f"{setting.name} of the profile"
        if value is not None:
            values[setting.name] = _check(setting, value, source)
    return values


def _read_environment(setting: Setting, environment: Mapping[str, str]) -> tuple[str | None, str]:
    for variable in setting.all_variables:
        if environment.get(variable):
            return environment[variable], variable
    return None, ""


_SWITCHES: Final = {
    "true": True, "1": True, "yes": True, "on": True,
    "false": False, "0": False, "no": False, "off": False,
}  # fmt: skip


def _check(setting: Setting, value: object, source: str) -> str | bool | float:
    if setting.metavar is None:
        switch = value if isinstance(value, bool) else _SWITCHES.get(str(value).lower())
        if switch is None:
            raise UsageError(f"{source}: must be true or false")
        return switch
    if setting.number:
        try:
            return seconds(str(value))
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{source}: {error}") from error
    if not isinstance(value, str):
        raise UsageError(f"{source}: must be a string")
    return value


def default_profile_file(environment: Mapping[str, str]) -> Path:
    # Path.expanduser raises if there is no home directory, as in some containers.
    home = os.path.expanduser("~")
    root = environment.get("XDG_CONFIG_HOME")
    return (Path(root) if root else Path(home, ".config")) / "rocketwire" / "admin.toml"


def _profile(arguments: argparse.Namespace, environment: Mapping[str, str]) -> dict[str, Any]:
    name: str | None = getattr(arguments, _PREFIX + "profile", None) or environment.get(PROFILE_ENV)
    file: str | None = getattr(arguments, _PREFIX + "profile_file", None)
    file = file or environment.get(PROFILE_FILE_ENV)
    path = Path(file) if file else default_profile_file(environment)
    if not (file or name or os.path.exists(path)):  # Path.exists raises without permission
        return {}
    try:
        profiles = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"profiles: {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"profiles: {path}: {error}") from error
    loose = [key for key, value in profiles.items() if not isinstance(value, dict)]
    if loose:
        raise UsageError(
            f"{path}: {loose[0]} is outside of a profile; put [{DEFAULT_PROFILE}] above it"
        )
    profile: dict[str, Any] | None = profiles.get(name or DEFAULT_PROFILE)
    if profile is None:
        if not name:
            return {}
        near = did_you_mean(name, profiles) or f"; it has: {', '.join(profiles)}"
        raise UsageError(f"no profile {name} in {path}{near}")
    return _check_names(profile, path)


def _check_names(profile: dict[str, Any], path: Path) -> dict[str, Any]:
    names = [setting.name for setting in SETTINGS]
    for name in profile:
        if name not in names:
            near = did_you_mean(name, names) or f"; valid are: {', '.join(names)}"
            raise UsageError(f"{path}: unknown setting {name}{near}")
    return profile


Settings: TypeAlias = "Mapping[str, str | bool | float]"

REQUEST_TIMEOUT: Final = 5.0
"""Timeout of a call in seconds.

Requests of operators take longer than others (Java's mqadmin: 5 s).
"""

CONNECT_TIMEOUT: Final = 3.0
"""Minimum connect timeout in seconds; a longer request timeout also applies here (Java: 3 s)."""

_TLS_FILES: Final = ("ca", "cert", "key-file", "tls-server-name")


def context_of(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Context:
    settings = settings_of(arguments, environment)
    timeout = float(settings.get("request-timeout", REQUEST_TIMEOUT))
    return Context(arguments, client_config(settings), timeout)


def client_config(settings: Settings) -> ClientConfig:
    """Build a client configuration, perhaps without name servers; or ``UsageError``."""
    address_map = _text_of(settings, "address-map") or ""
    try:
        servers = parse_name_servers(_text_of(settings, "namesrv-addr") or "")
        build_remap("address-map", address_map)
    except LocalProtocolError as error:
        raise UsageError(str(error)) from error
    return ClientConfig(
        namesrv_addr=servers,
        address_remap=address_map,
        credentials=_credentials(settings),
        tls=_tls(settings),
        tls_server_hostname=_text_of(settings, "tls-server-name"),
        namespace=_text_of(settings, "namespace") or namespace_of_endpoint(servers),
        mq_client_api_timeout=float(settings.get("request-timeout", REQUEST_TIMEOUT)),
        connect_timeout=max(float(settings.get("request-timeout", 0.0)), CONNECT_TIMEOUT),
    )


def _text_of(settings: Settings, name: str) -> str | None:
    value = settings.get(name)
    return value if isinstance(value, str) and value else None


def _credentials(settings: Settings) -> Credentials | None:
    access, secret = _text_of(settings, "access-key"), _text_of(settings, "secret-key")
    if access is None and secret is None:
        return None
    if access is None or secret is None:
        missing = "access-key" if access is None else "secret-key"
        raise UsageError(f"the {missing} is missing: credentials need both keys")
    return Credentials(access, secret, _text_of(settings, "security-token"))


def _tls(settings: Settings) -> ssl.SSLContext | None:
    insecure = settings.get("insecure") is True
    implied = insecure or any(_text_of(settings, name) for name in _TLS_FILES)
    if not settings.get("tls", implied):
        return None
    try:
        ca = _text_of(settings, "ca")  # None for the certificates of the system
        tls_context = ssl.create_default_context(cafile=ca and _pem("ca", ca, "CERTIFICATE"))
        _identify(tls_context, settings)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"certificates: {error}") from error
    if insecure:
        tls_context.check_hostname = False
        tls_context.verify_mode = ssl.CERT_NONE
    return tls_context


def _identify(tls_context: ssl.SSLContext, settings: Settings) -> None:
    cert, key = _text_of(settings, "cert"), _text_of(settings, "key-file")
    if cert is None:
        if key is not None:
            raise UsageError("key-file is set without cert")
        return
    path = _pem("cert", cert, "CERTIFICATE")
    if key is None:
        key_path = _pem("cert (no key-file is set)", cert, "PRIVATE KEY")
    else:
        key_path = _pem("key-file", key, "PRIVATE KEY")
    password = _Password(_text_of(settings, "key-password"))
    try:
        tls_context.load_cert_chain(path, key_path, password)
    except ssl.SSLError as error:
        if not password.was_asked:
            raise
        wrong = "wrong" if password.text else "missing: the private key is encrypted"
        raise UsageError(f"the key-password is {wrong}") from error


class _Password:
    """Callback for the password of a key; without one OpenSSL would read the terminal or stdin."""

    def __init__(self, text: str | None) -> None:
        self.text = text or ""  # the password; empty for none
        self.was_asked = False  # whether OpenSSL asked for it, because the key is encrypted

    def __call__(self) -> str:
        self.was_asked = True
        return self.text


def _pem(name: str, file: str, label: str) -> str:
    path = os.path.expanduser(file)  # no shell expands the paths of a profile
    try:
        text = Path(path).read_text("ascii", "replace")
    except OSError as error:
        raise UsageError(f"{name}: {path}: {error.strerror}") from error
    if f"{label}-----" not in text:
        raise UsageError(f"{name}: no {label.lower()} (PEM) in {path}")
    return path
