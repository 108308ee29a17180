"""Rows as lines of JSON.

Each column becomes a column of the texts in the lines, and Arrow joins these columns.  The lines
are the same as msgspec's of one object for each row, which writes what is not as usual.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from rocketwire_tools.jsonlines import escape_line_breaks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.rows import Rows

_FEW_ROWS: Final = 64  # fewer rows are written faster as objects
_LARGEST: Final = 256 << 20  # bytes of bodies that are joined at once
_DELETE: Final = 0x7F


BODY_FORMS: Final[dict[str, Callable[[bytes], str]]] = {
    "text": lambda body: body.decode("utf-8", "replace"),
    "hex": bytes.hex,
    "base64": lambda body: base64.b64encode(body).decode(),
}
"""Name of a form of bodies → the body in it."""


def body_texts(bodies: Sequence[bytes | None], form: str) -> list[str | None]:
    """Bodies in a form of ``BODY_FORMS``; None stays None."""
    convert = BODY_FORMS[form]
    return [None if body is None else convert(body) for body in bodies]


def _is_plain(text: memoryview) -> bool:
    """Whether a text is ASCII without DEL, which ``escape_line_breaks`` leaves as it is."""
    return not len(text) or int(np.frombuffer(text, np.uint8).max()) < _DELETE


class JsonRows:
    """Encodes rows as lines of JSON with some columns, and bodies in a form of ``BODY_FORMS``."""

    def __init__(self, names: Sequence[str], body: str) -> None:
        self._names = tuple(names)
        self._body = body
        fields = [f"c{index}" for index in range(len(names))]
        # objects of a class that msgspec knows are encoded without a dict for each
        self._row: Callable[..., Any] = msgspec.defstruct(
            "Row", fields, rename=dict(zip(fields, self._names, strict=True)), gc=False
        )
        self._encoder = msgspec.json.Encoder()

    def encode(self, rows: Rows) -> bytes:
        if len(rows) < _FEW_ROWS or rows.are_unfolded or self._is_large(rows):
            return escape_line_breaks(self.objects(rows))
        from rocketwire_tools.store.formats.json_columns import JsonColumns

        columns = JsonColumns(rows, self.values)
        lines = columns.lines(self._names, self._body)
        return bytes(lines) if _is_plain(lines) else escape_line_breaks(bytes(lines))

    def _is_large(self, rows: Rows) -> bool:
        """Whether bodies, inflated, are too large for one array."""
        if "body" not in self._names:
            return False
        if rows.are_bodies_stored:
            return int(rows.body_lengths.sum()) > _LARGEST
        return sum(len(body or b"") for body in rows.bodies) > _LARGEST

    def objects(self, rows: Rows) -> bytes:
        """The lines, of one object for each row; some readers find line ends inside of them."""
        columns = [self.values(rows, name) for name in self._names]
        return self._encoder.encode_lines(list(map(self._row, *columns)))

    def values(self, rows: Rows, name: str) -> Any:
        values = rows.column(name)
        if name == "body":  # msgspec encodes bytes as base64
            return list(values) if self._body == "base64" else list(body_texts(values, self._body))
        return values.tolist() if isinstance(values, np.ndarray) else values
