"""The command line of ``mqnamesrv`` as commons-cli reads it, and the options that Java does not
have.

Rules of this file: pure; a command line has the same meaning as for Java's program.

Java: ``ServerUtil``, commons-cli's ``DefaultParser`` (1.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

USAGE: Final = """\
usage: mqnamesrv [-c <arg>] [-h] [-n <arg>] [-p]
 -c,--configFile <arg>    Name server config properties file
 -h,--help                Print help
 -n,--namesrvAddr <arg>   Name server address list, eg: '192.168.0.1:9876;192.168.0.2:9876'
 -p,--printConfigItem     Print all config items
"""
HELP: Final = f"""\
{USAGE}
Run a name server that replaces Java's.

Options that Java's name server does not have:
    --check-config <arg>   Check a configuration file and exit; status 0 if the server would start
    --sample-config        Print a configuration file with every rocketwire.* setting explained
    --version              Print the version
-p prints the rocketwire.* settings behind Java's, and warnings about the file on stderr.

The port is 9876, or listenPort in the file.
Examples:
    rocketwire-namesrv --sample-config > namesrv.properties
    rocketwire-namesrv --check-config namesrv.properties
    rocketwire-namesrv -c namesrv.properties

Exit status: 143 after SIGTERM, 130 after SIGINT; 255 if it cannot start; 1 if an option is unknown
or --check-config finds an error.
"""

_LONG: Final = {"help": "h", "namesrvAddr": "n", "configFile": "c", "printConfigItem": "p"}
_SHORT: Final = frozenset("chnp")
_WITH_ARGUMENT: Final = frozenset("cn")
_WITH_ARGUMENT_LONG: Final = frozenset({"configFile", "namesrvAddr"})

CHECK_CONFIG: Final = "check-config"
SAMPLE_CONFIG: Final = "sample-config"
VERSION: Final = "version"
_OURS: Final = frozenset({CHECK_CONFIG, SAMPLE_CONFIG, VERSION})
"""Options that Java does not have; they cannot be abbreviated, so that Java's still can."""


class UsageError(Exception):
    """The command line is invalid."""


def parse(arguments: Sequence[str]) -> dict[str, str]:
    """Read a command line as commons-cli does; words that are neither options nor arguments are
    ignored.

    Returns:
        Letter of each option, or the name of one that Java does not have -> its argument; the first
        if there are several, empty if there is none.

    Raises:
        UsageError: with the text that Java prints.
    """
    options: dict[str, str] = {}
    waiting = ""  # the option whose argument comes next
    for word in arguments:
        if word == "--":
            break
        name, equals, value = word.removeprefix("--").partition("=")
        is_own = word.startswith("--") and name in _OURS and waiting not in _WITH_ARGUMENT
        if waiting and not is_own and not _is_option(word):
            options.setdefault(waiting, _unquote(word))
            waiting = ""
        elif is_own:
            _require_argument(waiting)
            if name != CHECK_CONFIG and equals:
                raise _unknown_option(word)
            waiting = CHECK_CONFIG if name == CHECK_CONFIG and not equals else ""
            if not waiting:
                options.setdefault(name, value)
        elif word.startswith("-") and word != "-":
            for letter, argument in _options(word):
                _require_argument(waiting)
                waiting = letter if letter in _WITH_ARGUMENT and argument is None else ""
                if not waiting:
                    options.setdefault(letter, argument or "")
    _require_argument(waiting)
    return options


def _require_argument(waiting: str) -> None:
    if waiting:
        raise UsageError(f"Missing argument for option: {waiting}")


def _is_option(word: str) -> bool:
    if not word.startswith("-") or word == "-":
        return False
    name = word.partition("=")[0]
    return (
        _strip_dashes(name[1:]) in _SHORT
        or name[1:2] in _SHORT
        or bool(_long_names(_strip_dashes(name)))
        or (bool(_long_beginning(word[1:])) and not word.startswith("--"))
    )


def _options(word: str) -> Iterator[tuple[str, str | None]]:
    text = _strip_dashes(word)
    name, equals, value = text.partition("=")
    if word.startswith("--"):
        yield _long_option(word)
    elif len(name) <= 1 and equals:
        if name not in _WITH_ARGUMENT:
            raise _unknown_option(word)
        yield name, value
    elif equals or (len(text) > 1 and _long_names(text)):
        yield _long_option(word)
    elif (beginning := _long_beginning(text)) in _WITH_ARGUMENT_LONG:
        yield _LONG[beginning], text[len(beginning) :]
    else:
        yield from _letters(word, text)


def _long_option(word: str) -> tuple[str, str | None]:
    """Read ``--configFile``, ``--configFile=x``, or an unambiguous abbreviation."""
    name, equals, value = _strip_dashes(word).partition("=")
    names = _long_names(name)
    if len(names) > 1:
        could_be = ", ".join(f"'{name}'" for name in names)
        raise UsageError(f"Ambiguous option: '{word.partition('=')[0]}'  (could be: {could_be})")
    if not names or (equals and names[0] not in _WITH_ARGUMENT_LONG):
        raise _unknown_option(word)
    return _LONG[names[0]], value if equals else None


def _letters(word: str, text: str) -> Iterator[tuple[str, str | None]]:
    # joined single-letter options; the rest after one with an argument is its argument
    for position, letter in enumerate(text, 1):
        if letter not in _SHORT:
            raise _unknown_option(word)
        if letter in _WITH_ARGUMENT:
            yield letter, text[position:] or None
            return
        yield letter, None


def _long_names(beginning: str) -> list[str]:
    return [name for name in _LONG if name.startswith(beginning)]


def _long_beginning(text: str) -> str:
    # commons-cli accepts an argument that directly follows two characters of a long name
    return next((name for name in _LONG if text.startswith(name) and len(text) > len(name) + 1), "")


def _strip_dashes(word: str) -> str:
    return word[2:] if word.startswith("--") else word.removeprefix("-")


def _unquote(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] == '"' and '"' not in word[1:-1]
    return word[1:-1] if quoted else word


def _unknown_option(word: str) -> UsageError:
    return UsageError(f"Unrecognized option: {word}")
