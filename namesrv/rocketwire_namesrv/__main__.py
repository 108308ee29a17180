"""The command ``mqnamesrv``: Java's options, texts, streams and exit statuses.

Rules of this file: nothing heavy is imported before the options are known, so that ``-h`` and
``-p`` answer at once; what goes to stdout is what scripts look for.

Java: ``NamesrvStartup``, ``ServerUtil``, commons-cli's ``DefaultParser`` (1.5).
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_namesrv.config import Config
    from rocketwire_namesrv.sockets import Listening

__all__ = ["UsageError", "main", "parse"]

USAGE: Final = """\
usage: mqnamesrv [-c <arg>] [-h] [-n <arg>] [-p]
 -c,--configFile <arg>    Name server config properties file
 -h,--help                Print help
 -n,--namesrvAddr <arg>   Name server address list, eg: '192.168.0.1:9876;192.168.0.2:9876'
 -p,--printConfigItem     Print all config items
"""
FAILED: Final = 255
"""Exit status of a start that failed, and -1 in Java."""

_LONG: Final = {"help": "h", "namesrvAddr": "n", "configFile": "c", "printConfigItem": "p"}
_SHORT: Final = frozenset("chnp")
_WITH_ARGUMENT: Final = frozenset("cn")
_WITH_ARGUMENT_LONG: Final = frozenset({"configFile", "namesrvAddr"})


class UsageError(Exception):
    """The command line does not make sense."""


def parse(arguments: Sequence[str]) -> dict[str, str]:
    """Read a command line as commons-cli does; what is neither option nor argument is ignored.

    Returns:
        Letter of each option -> its argument; the first where there are several, empty without one.

    Raises:
        UsageError: with the text that Java prints.
    """
    found: dict[str, str] = {}
    waiting = ""  # the option whose argument comes next
    for word in arguments:
        if word == "--":
            break
        if waiting and not _is_option(word):
            found.setdefault(waiting, _unquoted(word))
            waiting = ""
        elif word.startswith("-") and word != "-":
            for letter, argument in _options(word):
                _require_argument(waiting)
                waiting = letter if letter in _WITH_ARGUMENT and argument is None else ""
                if not waiting:
                    found.setdefault(letter, argument or "")
    _require_argument(waiting)
    return found


def _require_argument(waiting: str) -> None:
    if waiting:
        raise UsageError(f"Missing argument for option: {waiting}")


def _is_option(word: str) -> bool:
    """Whether a word that might be an argument is an option, known by its beginning."""
    if not word.startswith("-") or word == "-":
        return False
    name = word.partition("=")[0]
    return (
        _bare(name[1:]) in _SHORT
        or name[1:2] in _SHORT
        or bool(_long_names(_bare(name)))
        or (bool(_long_beginning(word[1:])) and not word.startswith("--"))
    )


def _options(word: str) -> Iterator[tuple[str, str | None]]:
    """The options in one word, with their arguments where those are in it too."""
    text = _bare(word)
    name, equals, value = text.partition("=")
    if word.startswith("--"):
        yield _long_option(word)
    elif len(name) <= 1 and equals:
        if name not in _WITH_ARGUMENT:
            raise _unrecognized(word)
        yield name, value
    elif equals or (len(text) > 1 and _long_names(text)):
        yield _long_option(word)
    elif (beginning := _long_beginning(text)) in _WITH_ARGUMENT_LONG:
        yield _LONG[beginning], text[len(beginning) :]
    else:
        yield from _letters(word, text)


def _long_option(word: str) -> tuple[str, str | None]:
    """``--configFile``, ``--configFile=x``, or as many letters of it as tell it from the others."""
    name, equals, value = _bare(word).partition("=")
    names = _long_names(name)
    if len(names) > 1:
        could_be = ", ".join(f"'{each}'" for each in names)
        raise UsageError(f"Ambiguous option: '{word.partition('=')[0]}'  (could be: {could_be})")
    if not names or (equals and names[0] not in _WITH_ARGUMENT_LONG):
        raise _unrecognized(word)
    return _LONG[names[0]], value if equals else None


def _letters(word: str, text: str) -> Iterator[tuple[str, str | None]]:
    """Single letters run together; the rest after one that takes an argument is its argument."""
    for position, letter in enumerate(text, 1):
        if letter not in _SHORT:
            raise _unrecognized(word)
        if letter in _WITH_ARGUMENT:
            yield letter, text[position:] or None
            return
        yield letter, None


def _long_names(beginning: str) -> list[str]:
    return [name for name in _LONG if name.startswith(beginning)]


def _long_beginning(text: str) -> str:
    """The long name that an argument directly follows (two characters of it at least), or none."""
    return next((name for name in _LONG if text.startswith(name) and len(text) > len(name) + 1), "")


def _bare(word: str) -> str:
    return word[2:] if word.startswith("--") else word.removeprefix("-")


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] == '"' and '"' not in word[1:-1]
    return word[1:-1] if quoted else word


def _unrecognized(word: str) -> UsageError:
    return UsageError(f"Unrecognized option: {word}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments; by default those of the process.

    Returns:
        The exit status: 0 after ``-h`` and ``-p``, 1 for a wrong command line, 255 where the server
        cannot start, 128 and the signal's number (143 for SIGTERM) after a signal.
    """
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        print(error, file=sys.stderr)
        print(USAGE, end="")
        return 1
    if "h" in options:
        print(USAGE, end="")
        return 0
    config = _configuration(options.get("c"))
    if config is None:
        return FAILED
    if "p" in options:
        _print_items(config)
        return 0
    return _run(config)


def _configuration(path: str | None) -> Config | None:
    """The settings, or None after a message."""
    from rocketwire.errors import RocketWireError
    from rocketwire_namesrv.config import Config
    from rocketwire_namesrv.storage import load_config

    try:
        entries = None if path is None else load_config(path)
        if path is not None:
            print(f"load config properties file OK, {path}", flush=True)
        return Config.load(
            entries,
            home=os.path.expanduser("~"),
            config_path=path,
            environment=os.environ,
            processors=os.cpu_count() or 1,
        )
    except (OSError, RocketWireError) as error:
        print(f"the name server cannot start: {error}", file=sys.stderr)
        return None


def _print_items(config: Config) -> None:
    from rocketwire_namesrv.config import Owner

    now = time.strftime("%Y-%m-%d %H:%M:%S")
    for name, value in config.items(Owner.NAMESRV, Owner.SERVER, Owner.CLIENT):
        print(f"{now} INFO main - {name}={value or ''}")


def _run(config: Config) -> int:
    """Serve until a signal; returns the exit status."""
    import trio

    from rocketwire.wire.frozen import compile_constructors
    from rocketwire_namesrv import logs
    from rocketwire_namesrv.config import ConfigError
    from rocketwire_namesrv.config_remarks import config_remarks
    from rocketwire_namesrv.process import allow_many_connections, calm_collector, give_memory_back
    from rocketwire_namesrv.server import serve_until_signal
    from rocketwire_namesrv.sockets import BindError
    from rocketwire_namesrv.storage import StorageError
    from rocketwire_namesrv.tls import TlsError

    def on_boot(listening: Listening) -> None:
        line = (
            f"The Name Server boot success. serializeType={config.serialize_type.name}, "
            f"address {listening.address}:{listening.port}"
        )
        print(line, flush=True)
        logs.LOGGER.info(line)
        calm_collector()

    try:
        logs.set_up(os.environ.get("ROCKETWIRE_LOG", "file"), config.home)
    except ValueError as error:
        print(f"the name server cannot start: {error}", file=sys.stderr)
        return FAILED
    for remark in config_remarks(config):
        logs.LOGGER.warning("configuration: %s", remark)
    allow_many_connections()
    give_memory_back()
    compile_constructors()  # whatever is received, no code is made of anything from now on
    status = FAILED
    try:
        status = 128 + trio.run(serve_until_signal, config, on_boot)
    except* (BindError, ConfigError, StorageError, TlsError) as group:
        for each in group.exceptions:
            print(f"the name server cannot start: {each}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
