"""Reads and writes lines: bounded reading, bytes as hex or base64, one JSON object a line.

Rules of this file: only one line is in memory; an invalid line is answered with a refusal, and the
next line is read; every line is flushed, because a program may wait for it.
"""

from __future__ import annotations

import binascii
import json
import re
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from rocketwire.errors import CodecError, DecodeError, EncodeError, LimitExceededError
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.json.fastjson import StrictError, strict_dumps, strict_loads
from rocketwire_tools.terminal import escape_line_breaks

if TYPE_CHECKING:
    from collections.abc import Callable


def is_object(value: Plain) -> TypeGuard[dict[str, Plain]]:
    return isinstance(value, dict)


def is_array(value: Plain) -> TypeGuard[list[Plain]]:
    return isinstance(value, list)


def expect_object(value: Plain, path: str) -> dict[str, Plain]:
    if not is_object(value):
        raise EncodeError("not an object", path=path)
    return value


def expect_array(value: Plain, path: str) -> list[Plain]:
    if not is_array(value):
        raise EncodeError("not an array", path=path)
    return value


def expect_text(value: Plain, path: str) -> str:
    if not isinstance(value, str):
        raise EncodeError("not a text", path=path)
    return value


def expect_integer(value: Plain, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise EncodeError("not an integer", path=path)
    return value


def texts(value: Plain, path: str) -> dict[str, str | None]:
    return {
        key: None if item is None else expect_text(item, f"{path}.{key}")
        for key, item in expect_object(value, path).items()
    }


Plain: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, lists, and dicts with text keys."""


MAX_LINE: Final = 4 * MAX_FRAME_LENGTH
"""Maximum bytes of a line: the largest frame as hex, with a space after every digit."""


_PREFIX: Final = re.compile(r"(?:(?<=\s)|\A)0[xX]")
_NO_DIGIT: Final = re.compile(r"[^0-9a-fA-F\s]")


class Output:
    def __init__(self, stream: IO[bytes]) -> None:
        self._write, self._flush = stream.write, stream.flush
        self.refused = False  #: whether any line was refused

    def put(self, value: Plain) -> None:
        self._write(text_of(value) + b"\n")
        self._flush()

    def refuse(self, error: CodecError) -> None:
        self.refused = True
        self.put(refusal(error))


def refusal(error: CodecError) -> dict[str, Plain]:
    """Return the object for an error; ``offset`` counts bytes of the packet."""
    message = error.message if error.path is None else f"{error.path}: {error.message}"
    return {"error": type(error).__name__, "message": message, "offset": error.offset}


def text_of(value: Plain) -> bytes:
    """Return a line of JSON; single surrogates, which UTF-8 cannot encode, are escaped."""
    try:
        return escape_line_breaks(strict_dumps(value))
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def translate_lines(source: IO[bytes], translate: Callable[[bytes], Plain], output: Output) -> None:
    while line := source.readline(MAX_LINE + 2):
        if line.isspace():
            continue
        try:
            if len(line) > MAX_LINE + 1:
                _skip_rest(source, line)
                message = f"a line of more than {MAX_LINE} bytes"
                raise LimitExceededError(message, declared=len(line), limit=MAX_LINE)
            value = translate(line)
        except CodecError as error:
            output.refuse(error)
        else:
            output.put(value)


def _skip_rest(source: IO[bytes], piece: bytes) -> None:
    while piece and not piece.endswith(b"\n"):
        piece = source.readline(1 << 16)


def from_hex(line: bytes) -> bytes:
    """Return the bytes of hex digits, or of an object with ``hex`` as ``encode`` writes it."""
    text = line.decode("latin-1")
    try:
        return bytes.fromhex(text)
    except ValueError:
        pass
    if text.lstrip().startswith("{"):
        return hex_member(parse_object(line), "hex")
    return _parse_hex(text)


def hex_member(source: dict[str, Plain], name: str) -> bytes:
    text = source.get(name, 0)
    if text is None:
        return b""
    if not isinstance(text, str):
        raise DecodeError("not a text with hex digits", path=name)
    return _parse_hex(text)


def _parse_hex(text: str) -> bytes:
    digits = _PREFIX.sub("", text)
    if invalid := _NO_DIGIT.search(digits):
        digits_before = "".join(digits[: invalid.start()].split())
        raise DecodeError(f"{invalid[0]!r} is not a hex digit", offset=len(digits_before) // 2)
    digits = "".join(digits.split())
    if len(digits) % 2:
        raise DecodeError("an odd number of hex digits", offset=len(digits) // 2)
    return bytes.fromhex(digits)


def from_base64(line: bytes) -> bytes:
    try:
        return binascii.a2b_base64(b"".join(line.split()), strict_mode=True)
    except ValueError as error:
        raise DecodeError(f"not base64: {error}") from error


def parse_object(line: bytes) -> dict[str, Plain]:
    try:
        value: Plain = strict_loads(line)
    except StrictError as error:
        raise DecodeError(f"not JSON: {error}") from error
    if not is_object(value):
        raise DecodeError("not a JSON object")
    return value
