"""Rows as lines of JSON."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from rocketwire_tools.jsonlines import escape_line_breaks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.store.engine.rows import Rows

BODY_FORMS: Final[dict[str, Callable[[bytes], str]]] = {
    "text": lambda body: body.decode("utf-8", "replace"),
    "hex": bytes.hex,
    "base64": lambda body: base64.b64encode(body).decode(),
}
"""Name of a form of bodies → the body in it."""


def body_texts(bodies: Sequence[bytes | None], form: str) -> list[str | None]:
    convert = BODY_FORMS[form]
    return [None if body is None else convert(body) for body in bodies]


class JsonRows:
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
        columns = [self._values(rows, name) for name in self._names]
        lines = self._encoder.encode_lines(list(map(self._row, *columns)))
        return escape_line_breaks(lines)  # some readers find line ends inside of texts

    def _values(self, rows: Rows, name: str) -> Any:
        values = rows.column(name)
        if name == "body" and self._body != "base64":  # msgspec encodes bytes as base64
            return body_texts(values, self._body)
        return values.tolist() if isinstance(values, np.ndarray) else values
