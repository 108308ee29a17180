"""Masks topics, groups and addresses: a name always has the same mask, which does not reveal it.

A mask depends only on the name and a secret, so that files masked with the same secret can be
joined. A remark has one mask as a whole.
"""

from __future__ import annotations

import hashlib
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import column, pa

if TYPE_CHECKING:
    from collections.abc import Callable

    from rocketwire_tools.pcap.arrow import Batch, Column


class Redaction:
    """Masks rows. With the secret, a guessed name can be checked against a mask."""

    def __init__(self, secret: str) -> None:
        if not secret:
            raise ValueError("an empty secret hides nothing: everybody can compute its masks")
        key = secret.encode()

        @lru_cache(1 << 16)
        def digest(text: str) -> bytes:
            return hmac.digest(key, text.encode(errors="surrogatepass"), hashlib.sha256)

        self._digest = digest

    def name(self, prefix: str, text: str) -> str:
        """The mask of a name. The digits do not depend on the prefix."""
        return f"{prefix}-{self._digest(text)[:6].hex()}"

    def host(self, text: str) -> str:
        """The mask of an address, an address of the unused network 240.0.0.0/4."""
        digest = self._digest(text)
        return f"{0xF0 | digest[0] & 15}.{digest[1]}.{digest[2]}.{digest[3]}"

    def connection(self, text: str) -> str:
        """The mask of a connection; ports stay."""
        return "-".join(self._end(end) for end in text.split("-"))

    def _end(self, end: str) -> str:
        host, _, port = end.rpartition(":")
        return f"{self.host(host.strip('[]'))}:{port}"

    def apply(self, batch: Batch) -> Batch:
        masks: dict[str, Callable[[str], str]] = {
            "topic": lambda text: self.name("topic", text),
            "request_topic": lambda text: self.name("topic", text),
            "group": lambda text: self.name("group", text),
            "src": self.host,
            "dst": self.host,
            "connection": self.connection,
            "file": lambda text: self.name("file", text),
            "remark": lambda text: self.name("remark", text),
        }
        columns: list[Column] = []
        for name in batch.schema.names:
            values = batch.column(name)
            if (mask := masks.get(name)) is not None:
                encoded = values.dictionary_encode()
                names = [mask(text) for text in encoded.dictionary.to_pylist()]
                values = column(names, pa.string()).take(encoded.indices)
            columns.append(values)
        return arrow.batch(columns, batch.schema)
