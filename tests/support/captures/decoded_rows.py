"""Rows of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire_tools.pcap.decode.decoder import Decoder, Options

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]


def rows(path: Path | str, options: Options | None = None) -> list[Row]:
    """All rows."""
    return [row for batch in Decoder(str(path), options) for row in batch.to_pylist()]
