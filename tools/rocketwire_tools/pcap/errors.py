"""Errors of captures, with their positions."""

from __future__ import annotations


class CaptureError(Exception):
    """A capture cannot be read."""

    def __init__(self, path: str, offset: int | None, message: str) -> None:
        super().__init__(path, offset, message)
        self.path = path  # of the file
        self.offset = offset  # position of the error in the (inflated) bytes; None if unknown
        self.message = message  # describes the error

    def __str__(self) -> str:
        where = "" if self.offset is None else f" at byte {self.offset}"
        return f"{self.path}{where}: {self.message}"
