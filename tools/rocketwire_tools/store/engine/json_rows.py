"""Rows as lines of JSON."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from rocketwire_tools.jsonlines import unbroken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.rows import Rows


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


BODY_FORMS: Final[dict[str, Callable[[bytes], str]]] = {
    "text": _text,
    "hex": bytes.hex,
    "base64": lambda body: base64.b64encode(body).decode(),
}
"""Name of a form of bodies → the body in it."""


def body_texts(bodies: Sequence[bytes | None], form: str) -> list[str | None]:
    """Bodies in a form of ``BODY_FORMS``; None stays None."""
    convert = BODY_FORMS[form]
    return [None if body is None else convert(body) for body in bodies]


def _may_break(text: bytes) -> bool:
    """Whether a text in UTF-8 has bytes with which characters of ``unbroken`` begin."""
    numbers = np.frombuffer(text, np.uint8)
    return bool(((numbers == 0xC2) | (numbers == 0xE2) | (numbers == 0x7F)).any())


class JsonRows:
    """Encodes rows as JSON, one object and a line feed for each.

    Args:
        names: columns, in the order of the members.
        body: form of bodies, a name of ``BODY_FORMS``.
    """

    def __init__(self, names: Sequence[str], body: str) -> None:
        self._names = tuple(names)
        self._body = body
        fields = [f"c{number}" for number in range(len(names))]
        # objects of a class that msgspec knows are encoded without a dict for each
        self._row: Callable[..., Any] = msgspec.defstruct(
            "Row", fields, rename=dict(zip(fields, self._names, strict=True)), gc=False
        )
        self._encoder = msgspec.json.Encoder()

    def encode(self, rows: Rows) -> bytes:
        """The lines of rows."""
        columns = [self._column(rows, name) for name in self._names]
        lines = self._encoder.encode_lines(list(map(self._row, *columns)))
        return unbroken(lines) if _may_break(lines) else lines

    def _column(self, rows: Rows, name: str) -> Any:
        if name == "properties":
            objects = rows.property_objects
            return rows.properties if objects is None else list(map(msgspec.Raw, objects))
        values = rows.column(name)
        if name == "body":  # msgspec encodes bytes as base64
            return list(values) if self._body == "base64" else list(body_texts(values, self._body))
        return values.tolist() if isinstance(values, np.ndarray) else values
