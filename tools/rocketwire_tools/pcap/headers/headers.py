"""Headers of many frames to columns.

No object is made of the bytes of a header, and none of its values outlives the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from rocketwire.errors import CodecError
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.json_header import decode_json_header
from rocketwire_tools.pcap.headers import binary
from rocketwire_tools.pcap.headers.columns import (
    OPTIONAL_COLUMNS,
    Columns,
    concatenate,
)
from rocketwire_tools.pcap.headers.json import JsonHeaders, read_rocketmq, replace_surrogates
from rocketwire_tools.pcap.streams.header_bytes import HeaderBytes
from rocketwire_tools.pcap.streams.resync import JSON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from rocketwire_tools.pcap.files.records import Array

_FEW: Final = 96  # Fewer ROCKETMQ headers are read faster one by one


class HeaderReader:
    def __init__(self, column_names: AbstractSet[str] = OPTIONAL_COLUMNS) -> None:
        self._column_names = column_names
        self._json = JsonHeaders(column_names)

    def read(self, headers: HeaderBytes, types: Array) -> Columns:
        parts = list(self._read(headers, types))
        numbers = np.concatenate([part_numbers for part_numbers, _ in parts])
        read = concatenate([columns for _, columns in parts])
        if (numbers[1:] > numbers[:-1]).all():
            return read
        ranks = np.empty_like(numbers)
        ranks[numbers] = np.arange(len(numbers))
        return read.take(ranks)

    def _read(self, headers: HeaderBytes, types: Array) -> Iterator[tuple[Array, Columns]]:
        rocketmq = np.flatnonzero(types != JSON)
        if not len(rocketmq):
            yield from self._json.read(headers)
            return
        json = np.flatnonzero(types == JSON)
        for part_numbers, columns in self._json.read(headers.take(json)):
            yield json[part_numbers], columns
        yield from self._rocketmq(headers, rocketmq)

    def _rocketmq(self, headers: HeaderBytes, numbers: Array) -> Iterator[tuple[Array, Columns]]:
        unread = numbers
        if len(numbers) >= _FEW:
            chosen = headers.take(numbers)
            rest: list[Array] = []
            for piece, part, start in chosen.split():
                in_piece = HeaderBytes((piece,), start, chosen.length[part])
                good, columns = binary.read(in_piece, self._column_names)
                if good.all():
                    yield numbers[part], columns
                    continue
                yield numbers[part[good]], columns.take(np.flatnonzero(good))
                rest.append(numbers[part[~good]])
            unread = np.concatenate([numbers[:0], *rest])
        if len(unread):
            yield unread, read_rocketmq(headers.take(unread).tolist(), self._column_names)


def ext_fields_text(header: bytes, header_type: int) -> str | None:
    try:
        fields = (
            decode_json_header(header) if header_type == JSON else decode_binary_header(header)[0]
        ).ext_fields
    except CodecError:
        return None
    if fields is None:
        return None
    try:
        return msgspec.json.encode(fields).decode()
    except UnicodeEncodeError:
        encodable = {
            replace_surrogates(name): value and replace_surrogates(value)
            for name, value in fields.items()
        }
        return msgspec.json.encode(encodable).decode()
