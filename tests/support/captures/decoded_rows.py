"""Rows of a capture."""

from pathlib import Path
from typing import Any

from rocketwire_tools.pcap.decode.decoder import Decoder, Options

Row = dict[str, Any]


def rows(path: Path | str, options: Options | None = None) -> list[Row]:
    return [row for batch in Decoder(str(path), options) for row in batch.to_pylist()]
