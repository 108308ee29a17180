"""A packet, byte range by byte range: offset, hex, field, meaning.

Rules of this file: the hex of all ranges is the packet, even if it is invalid; a last range then
holds the remaining bytes, and a refusal follows.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from rocketwire.codes import SerializeType
from rocketwire.errors import CodecError, DecodeError
from rocketwire.messages.operations.registry import OPERATIONS, ArrayOf, Operation, Raw
from rocketwire.wire.command import RemotingCommand, decode_frame
from rocketwire.wire.frame import split_frame
from rocketwire.wire.layouts import functions as layouts
from rocketwire_tools.codec.jsonl import Output, check_length, read_lines
from rocketwire_tools.codec.schema.descriptions import meaning
from rocketwire_tools.codec.schema.json_members import json_members
from rocketwire_tools.codec.schema.layouts import LAYOUTS
from rocketwire_tools.codec.schema.walk import Range, ranges
from rocketwire_tools.codec.values.decode import body_kind
from rocketwire_tools.codec.values.plain import located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocketwire_tools.codec.expect import Plain

_REPEATED: Final = frozenset({"stored"})


def explain(
    data: bytes, layout: str = "frame", request_code: int | None = None
) -> Iterator[dict[str, Plain]]:
    """Yields the ranges of a packet.

    Args:
        data: the packet.
        layout: its layout; a name in ``LAYOUTS``.
        request_code: the request that a response answers.

    Raises:
        DecodeError: it does not have this layout; raised after a last range with the remaining
            bytes.
    """
    pieces = (
        _frame(data, request_code)
        if layout == "frame"
        else _whole(LAYOUTS[layout], data, repeated=layout in _REPEATED)
    )
    reached = 0
    try:
        for piece in pieces:
            reached = piece.end
            yield _shown(data, piece.start, piece.end, piece.path, meaning(piece))
    except DecodeError:
        if reached < len(data):
            yield _shown(data, reached, len(data), "", "not understood")
        raise


def _shown(data: bytes, start: int, end: int, path: str, what: str) -> dict[str, Plain]:
    return {"offset": start, "hex": data[start:end].hex(), "field": path, "meaning": what}


def table_line(piece: dict[str, Plain]) -> str:
    """Returns a range as a line of a table; long hex is shortened."""
    digits = piece["hex"] if len(piece["hex"]) <= 32 else f"{piece['hex'][:29]}..."
    return f"{piece['offset']:>8}  {digits:<32}  {piece['field']:<32}  {piece['meaning']}".rstrip()


def _whole(con: Any, data: bytes, *, repeated: bool) -> Iterator[Range]:
    """Yields the ranges of ``data``, which contains what ``con`` declares, once or several
    times."""
    position, is_next = 0, True
    while is_next:
        for piece in ranges(con, data, position):
            position = piece.end
            yield piece
        is_next = repeated and position < len(data)
    if position < len(data):
        raise DecodeError(f"{len(data) - position} bytes too many", offset=position)


def _frame(data: bytes, request_code: int | None) -> Iterator[Range]:
    """Yields the ranges of a frame; of header and body if their form is known."""
    envelope = ranges(layouts.ENVELOPE, data)
    for _, piece in zip(range(3), envelope, strict=False):
        yield piece
    raw = split_frame(data)
    body_at = len(data) - len(raw.body or b"")
    start = layouts.PREFIX_SIZE
    if raw.header_type == SerializeType.JSON:
        yield from json_members(data, start, body_at)
    else:
        yield from _binary_header(data, start, body_at)
    try:
        command = decode_frame(raw)
    except DecodeError as error:
        raise located(error, start) from None
    operation = OPERATIONS.get(request_code or 0) if command.is_response else None
    if not command.is_response:
        operation = OPERATIONS.get(command.code)
    if body_at < len(data):
        yield from _body(data, body_at, command, operation)


def _binary_header(data: bytes, start: int, end: int) -> Iterator[Range]:
    position = start
    for piece in ranges(layouts.BINARY_HEADER, data, start, end):
        position = piece.end
        yield piece._replace(path=f"header.{piece.path}")
    if position < end:
        yield Range(position, end, "header.surplus", data[position:end], {})


def _body(
    data: bytes, start: int, command: RemotingCommand, operation: Operation | None
) -> Iterator[Range]:
    body_type = None if operation is None else body_kind(command, operation)
    con = _body_layout(command, operation)
    if con is None:
        name = (
            body_type.element.__name__
            if isinstance(body_type, ArrayOf)
            else getattr(body_type, "__name__", "")
        )
        path = f"body.{name}" if name else "body"
        yield Range(start, len(data), path, data[start:], {"kind": body_type})
        return
    position = start
    while position < len(data):
        start_of_message = position
        for piece in ranges(con, data, position):
            position = piece.end
            yield piece._replace(path=f"body.{piece.path}".replace(".[", "["))
        if con is not layouts.STORED_MESSAGE or position == start_of_message:
            break
    if position < len(data):
        yield Range(position, len(data), "body.surplus", data[position:], {})


def _body_layout(command: RemotingCommand, operation: Operation | None) -> Any:
    """Returns the declaration of a body; None if there is none: JSON, text, a packed
    registration."""
    if operation is None:
        return None
    body_type = body_kind(command, operation)
    if body_type in (Raw.STORED_MESSAGE, Raw.STORED_MESSAGES):
        return layouts.STORED_MESSAGE
    if body_type is Raw.MESSAGE_BATCH:
        return layouts.BATCH
    return None


def explain_lines(
    source: IO[bytes],
    output: Output,
    read: Callable[[bytes], bytes],
    *,
    layout: str = "frame",
    request_code: int | None = None,
    table: IO[bytes] | None = None,
) -> None:
    """Explains every line of ``source``; ranges are lines of ``table`` or objects of ``output``."""
    for line in read_lines(source):
        try:
            check_length(line)
            for piece in explain(read(line), layout, request_code):
                if table is None:
                    output.put(piece)
                else:
                    table.write(table_line(piece).encode("utf-8", "replace") + b"\n")
        except CodecError as error:
            output.refuse(error)
        if table is not None:
            table.write(b"\n")
            table.flush()
