"""Lines in, lines out: bounded reading, the texts that stand for bytes, one JSON object a line.

Rules of this file: one line is held at a time; what could not be read is answered with a refusal in
its place, and the next line goes on; every line is flushed, because a program may wait for it.
"""

from __future__ import annotations

import binascii
import json
import re
from typing import IO, TYPE_CHECKING, Final

from rocketwire.errors import CodecError, DecodeError, LimitExceededError
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.json.fastjson import StrictError, strict_dumps, strict_loads
from rocketwire_tools.codec.expect import is_object
from rocketwire_tools.jsonlines import unbroken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.codec.expect import Plain

MAX_LINE: Final = 4 * MAX_FRAME_LENGTH
"""Most bytes of a line: the largest frame as hex, with a blank after every digit."""


_PREFIX: Final = re.compile(r"(?:(?<=\s)|\A)0[xX]")
_NO_DIGIT: Final = re.compile(r"[^0-9a-fA-F\s]")


class Output:
    """Where the objects go.

    Attributes:
        refused: whether any line was refused.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._write, self._flush = stream.write, stream.flush
        self.refused = False

    def put(self, value: Plain) -> None:
        """Writes one object."""
        self._write(text_of(value) + b"\n")
        self._flush()

    def refuse(self, error: CodecError) -> None:
        """Writes what was wrong, in the place of a result."""
        self.refused = True
        self.put(refusal(error))


def refusal(error: CodecError) -> dict[str, Plain]:
    """The object that stands for an error; ``offset`` counts bytes of the packet."""
    message = error.message if error.path is None else f"{error.path}: {error.message}"
    return {"error": type(error).__name__, "message": message, "offset": error.offset}


def text_of(value: Plain) -> bytes:
    """One line of JSON; texts with half a surrogate pair, which UTF-8 cannot hold, are escaped."""
    try:
        return unbroken(strict_dumps(value))
    except TypeError:
        return json.dumps(value, separators=(",", ":")).encode()


def each_line(
    source: IO[bytes],
    translate: Callable[[bytes], Plain],
    output: Output,
    *,
    blank_ones: bool = False,
) -> None:
    """Answers every line of ``source``, blank ones only if ``blank_ones``."""
    for line in read_lines(source, blank_ones=blank_ones):
        try:
            check_length(line)
            value = translate(line)
        except CodecError as error:
            output.refuse(error)
        else:
            output.put(value)


def read_lines(source: IO[bytes], *, blank_ones: bool = False) -> Iterator[bytes]:
    """The lines, blank ones only if ``blank_ones``; of one that is too long only the start."""
    while line := source.readline(MAX_LINE + 2):
        if len(line) > MAX_LINE + 1:
            _skip_rest(source, line)
        if blank_ones or not line.isspace():
            yield line


def _skip_rest(source: IO[bytes], piece: bytes) -> None:
    while piece and not piece.endswith(b"\n"):
        piece = source.readline(1 << 16)


def check_length(line: bytes) -> None:
    """Refuses a line of which only the start was read.

    Raises:
        LimitExceededError: it is longer than ``MAX_LINE``.
    """
    if len(line) > MAX_LINE + 1:
        message = f"a line of more than {MAX_LINE} bytes"
        raise LimitExceededError(message, declared=len(line), limit=MAX_LINE)


# ---------------------------------------------------------------------------- bytes as text


def from_hex(line: bytes) -> bytes:
    """The bytes of a line of hex digits: blanks, ``0x`` and letter case mean nothing.

    A line may also be an object with a member ``hex``, as the encoding sub-commands write it.

    Raises:
        DecodeError: anything else.
    """
    text = line.decode("latin-1")
    try:
        return bytes.fromhex(text)
    except ValueError:
        pass
    if text.lstrip().startswith("{"):
        return hex_member(parse_object(line), "hex")
    return _loose_hex(text)


def hex_member(source: dict[str, Plain], name: str) -> bytes:
    """The bytes of a member that holds hex; none for null.

    Raises:
        DecodeError: it is missing or no hex.
    """
    text = source.get(name, 0)
    if text is None:
        return b""
    if not isinstance(text, str):
        raise DecodeError("no text with hex digits", path=name)
    return _loose_hex(text)


def _loose_hex(text: str) -> bytes:
    digits = _PREFIX.sub("", text)
    if strange := _NO_DIGIT.search(digits):
        before = "".join(digits[: strange.start()].split())
        raise DecodeError(f"{strange[0]!r} is no hex digit", offset=len(before) // 2)
    digits = "".join(digits.split())
    if len(digits) % 2:
        raise DecodeError("an odd number of hex digits", offset=len(digits) // 2)
    return bytes.fromhex(digits)


def from_base64(line: bytes) -> bytes:
    """The bytes of a line of base64, the padding included; blanks mean nothing.

    Raises:
        DecodeError: it is something else.
    """
    try:
        return binascii.a2b_base64(b"".join(line.split()), strict_mode=True)
    except ValueError as error:
        raise DecodeError(f"not base64: {error}") from error


def parse_object(line: bytes) -> dict[str, Plain]:
    """The JSON object that a line holds.

    Raises:
        DecodeError: it is none.
    """
    try:
        value: Plain = strict_loads(line)
    except StrictError as error:
        raise DecodeError(f"not JSON: {error}") from error
    if not is_object(value):
        raise DecodeError("not a JSON object")
    return value
