"""``Packed``: the body of a registration with ``compressed=true``, as data; may be invalid."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.placeholders import Names

VERSION: Final = '{"counter":1,"stateVersion":0,"timestamp":1000}'


def _prefix(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">i", len(data)) + data


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A packed registration body; placeholders in texts are replaced."""

    # lines with name, read queues, write queues, permission, filter type and attributes, separated
    # by spaces
    topics: tuple[str, ...] = ("{topic} 8 8 6 SINGLE_TAG {}", "{topicB} 8 8 6 SINGLE_TAG {}")
    version: str = VERSION  # JSON of the data version
    filters: str = "[]"  # JSON of the filter servers
    # JSON of each static mapping; None to omit the part, as before 5.0.0
    mappings: tuple[str, ...] | None = ()
    tail: bytes = b""  # bytes after the last part
    form: str = "zlib"  # compression: ``zlib``, ``gzip``, or ``plain`` for none
    cut: int = 0  # number of bytes to remove at the end of the parts

    def encode(self, names: Names) -> bytes:
        parts = [_prefix(names.text(self.version)), struct.pack(">i", len(self.topics))]
        parts += [_prefix(names.text(topic)) for topic in self.topics]
        parts.append(_prefix(names.text(self.filters)))
        if self.mappings is not None:
            parts.append(struct.pack(">i", len(self.mappings)))
            parts += [_prefix(names.text(mapping)) for mapping in self.mappings]
        data = b"".join(parts)
        data = data[: len(data) - self.cut] + self.tail
        if self.form == "zlib":
            return zlib.compress(data, 9)
        return gzip.compress(data, 9, mtime=0) if self.form == "gzip" else data
