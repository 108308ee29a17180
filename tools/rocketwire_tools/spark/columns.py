"""Columns as Spark declares them.

Rules of this file: every query reads them in a new process, so the engine is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.pcap.rows.rows import COLUMNS, ON_REQUEST

if TYPE_CHECKING:
    from rocketwire_tools.spark.options import Settings

_TYPES: Final = {"string": "string", "int64": "bigint", "int32": "int", "bool": "boolean"}


def columns(settings: Settings) -> dict[str, str]:
    every = {name: _TYPES[str(column_type)] for name, column_type in COLUMNS.items()}
    if settings.body == "none":
        del every["body_length"]
    if settings.ext_fields:
        every["ext_fields"] = "string"
    if settings.body == "decoded":
        every["body"] = "string"
    return every


def every_column() -> dict[str, str]:
    return {name: _TYPES[str(column_type)] for name, column_type in (COLUMNS | ON_REQUEST).items()}
