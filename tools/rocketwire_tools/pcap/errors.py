"""What can be wrong with a capture, and where."""

from __future__ import annotations


class CaptureError(Exception):
    """A capture cannot be read.

    Attributes:
        path: of the file.
        offset: in the capture's (inflated) bytes, where it went wrong; None if nowhere in particular.
        message: what is wrong.
    """

    def __init__(self, path: str, offset: int | None, message: str) -> None:
        super().__init__(path, offset, message)
        self.path = path
        self.offset = offset
        self.message = message

    def __str__(self) -> str:
        where = "" if self.offset is None else f" at byte {self.offset}"
        return f"{self.path}{where}: {self.message}"
