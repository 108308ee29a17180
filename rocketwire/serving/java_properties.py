"""The text format of ``java.util.Properties``: reading as Java does, and writing.

Rules of this file: a key that Java would see must be seen here too, however it is spelt (``a:b``,
``a b``, ``\\u0061=b``, a line continued by a backslash), because the refusal of dangerous keys
depends on it.  Reading follows ``Properties.load(InputStream)`` of Java 17, where every byte is one
ISO-8859-1 character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rocketwire.errors import DecodeError, IllegalValueError

_BLANKS: Final = " \t\f"
_WORD: Final = re.compile(r"""(?:[^\s"']|"[^"]*"?|'[^']*'?)+""")
_QUOTED: Final = re.compile(r""""([^"]*)"?|'([^']*)'?""")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# Key up to the first separator that no backslash protects, the separator, the value: fits any line.
_ENTRY: Final = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_CONTROLS: Final = {"t": "\t", "r": "\r", "n": "\n", "f": "\f"}
_WRITTEN: Final = {"\t": "\\t", "\r": "\\r", "\n": "\\n", "\f": "\\f", "\\": "\\\\"}


class Entry(NamedTuple):
    """One entry of a properties text."""

    key: str  # without escapes
    value: str  # without escapes; spaces at its end belong to it
    line: int  # number of the line in which the entry begins, from 1 on
    text: str  # the entry as it is written, without blanks in front; continued lines are joined


class PropertiesFile(Mapping[str, str]):
    """A properties file: key -> value, and the line of each entry."""

    def __init__(self, path: str, entries: Iterable[Entry]) -> None:
        self.path = path  # see above
        self.repeated: list[Entry] = []  # entries that do not count, because the same key follows
        self._entries: dict[str, Entry] = {}
        for entry in entries:
            if (earlier := self._entries.pop(entry.key, None)) is not None:
                self.repeated.append(earlier)
            self._entries[entry.key] = entry

    def __getitem__(self, key: str) -> str:
        return self._entries[key].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def entry(self, key: str) -> Entry:
        return self._entries[key]


def load_properties(data: bytes) -> dict[str, str]:
    return {entry.key: entry.value for entry in load_entries(data)}


def load_entries(data: bytes) -> list[Entry]:
    """Read a properties text, whose bytes are ISO-8859-1; an error names the line."""
    entries: list[Entry] = []
    for number, line in _logical_lines(data.decode("iso-8859-1")):
        for key, value in _ENTRY.findall(line)[:1]:
            try:
                entries.append(Entry(_unescape(key), _unescape(value), number, line))
            except DecodeError as error:
                location = f"line {number}"
                raise DecodeError(error.message, path=location, excerpt=error.excerpt) from error
    return entries


def load_config(path: str) -> PropertiesFile:
    """Read a configuration file, with the line of each setting."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return PropertiesFile(path, load_entries(data))
    except DecodeError as error:
        raise IllegalValueError(f"{path}, {error}") from error


def load_update(body: bytes) -> dict[str, str]:
    """Read the body of UPDATE_NAMESRV_CONFIG, whose UTF-8 bytes Java takes for ISO-8859-1.

    Bytes that are no UTF-8 become U+FFFD on the way, as in Java (``MixAll.string2Properties``).
    """
    return load_properties(body.decode("utf-8", "replace").encode("utf-8"))


def flat_text(table: Mapping[str, str]) -> str:
    """Return ``key=value`` lines in ascending order of UTF-16 code units, nothing escaped."""
    return "".join(f"{key}={table[key]}\n" for key in sorted(table, key=_code_units))


def file_text(table: Mapping[str, str]) -> bytes:
    """The same lines for a file, escaped where reading them back would give something else.

    Differs from Java on purpose: there a value with a line break in it becomes another key.
    """
    lines = [
        f"{_escape(key, key=True)}={_escape(table[key], key=False)}\n"
        for key in sorted(table, key=_code_units)
    ]
    return "".join(lines).encode("ascii")


def system_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the Java system properties of the ``-D`` options in JAVA_OPT and JAVA_OPT_EXT.

    Operators of the Java server set them there. Every JVM also reads JAVA_TOOL_OPTIONS and
    JDK_JAVA_OPTIONS, with quotes around texts with spaces; the former variables override these.
    Other JVM options are ignored.
    """
    options = [
        *_split_words(environment.get("JAVA_TOOL_OPTIONS", "")),
        *_split_words(environment.get("JDK_JAVA_OPTIONS", "")),
        *environment.get("JAVA_OPT", "").split(),
        *environment.get("JAVA_OPT_EXT", "").split(),
    ]
    pairs = (option[2:].partition("=") for option in options if option.startswith("-D"))
    return {name: value for name, _, value in pairs}


def _split_words(text: str) -> list[str]:
    words = _WORD.findall(text)
    return [_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", word) for word in words]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    # the number is that of the first part of continued lines
    naturals = _LINE_END.split(text)
    if not naturals[-1]:
        naturals.pop()
    pieces: list[str] = []
    continued = False
    first = 0
    for index, natural in enumerate(naturals, 1):
        piece = natural.lstrip(_BLANKS)
        if not pieces and piece.startswith(("#", "!")):
            continued = False
            continue
        continued = _ends_in_continuation(piece)
        if kept := piece[:-1] if continued else piece:
            first = first if pieces else index
            pieces.append(kept)
        if not continued:
            if pieces:
                yield first, "".join(pieces)
            pieces = []
    # A lone backslash as the very last line is an entry to Java: empty key, empty value.
    if pieces or (continued and not text.endswith("\r\n")):
        yield first if pieces else len(naturals), "".join(pieces)


def _ends_in_continuation(piece: str) -> bool:
    # an even number of backslashes protects itself, not the line break
    return (len(piece) - len(piece.rstrip("\\"))) % 2 == 1


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    unescaped = _ESCAPE.sub(_unescape_one, text)
    # Java's text is UTF-16: two escapes that form a pair are one character here.
    return unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _unescape_one(escape: re.Match[str]) -> str:
    name = escape[1]
    if len(name) > 1:
        return chr(int(name[1:], 16))
    if name == "u":
        raise DecodeError(
            "malformed \\uxxxx encoding",
            excerpt=escape.string[escape.start() : escape.start() + 6].encode("iso-8859-1"),
        )
    return _CONTROLS.get(name, name)


def _escape(text: str, *, key: bool) -> str:
    out: list[str] = []
    for position, character in enumerate(text):
        if character in _WRITTEN:
            out.append(_WRITTEN[character])
        elif not " " <= character <= "~":
            units = character.encode("utf-16-be", "surrogatepass").hex()
            out.extend(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
        elif (key and character in " =:#!") or (position == 0 and character == " "):
            out.append("\\" + character)
        else:
            out.append(character)
    return "".join(out)


def _code_units(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")
