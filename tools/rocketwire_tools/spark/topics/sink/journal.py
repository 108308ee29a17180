"""Decisions of a streaming query: which half messages of a micro-batch are committed.

The driver writes a decision before it commits the first half message, and a mark after the last. A
driver that takes over then commits the half messages of the decision, not those of the repeated
micro-batch: each row is visible once. Files are in the folder ``rocketmq-sink`` of the query's
checkpoint; those of earlier micro-batches are deleted.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Final

from rocketwire_tools.spark.option_values import OptionError

FOLDER: Final = "rocketmq-sink"
DECIDED: Final = "decided"
DONE: Final = "done"


def open_folder(location: str) -> tuple[Any, str]:
    """Return the file system and the path of a checkpoint.

    Args:
        location: path of this machine, or a URI that pyarrow opens (``hdfs://``, ``s3://``, ...).

    Raises:
        OptionError: pyarrow cannot open it.
    """
    files: Any = import_module("pyarrow.fs")
    scheme, separator, rest = location.partition(":")
    if not separator or scheme == "file":
        path = rest if separator else location
        return files.LocalFileSystem(), os.path.abspath(
            f"/{path.lstrip('/')}" if separator else path
        )
    opened: tuple[Any, str]
    try:
        opened = files.FileSystem.from_uri(location)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise OptionError(
            f"option 'checkpointLocation': {location}: {reason}: transactional=true keeps its "
            "decisions there, and needs a location that pyarrow.fs opens"
        ) from None
    return opened


class Journal:
    """The decisions of a query."""

    def __init__(self, location: str) -> None:
        """Open the folder; create it if necessary.

        Args:
            location: the query's checkpoint, see ``open_folder``.

        Raises:
            OptionError: pyarrow cannot open it.
        """
        self._files, path = open_folder(location)
        self._folder = f"{path.rstrip('/')}/{FOLDER}"
        self._files.create_dir(self._folder, recursive=True)

    def decision(self, batch: int) -> list[bytes] | None:
        """Return the half messages that an earlier driver decided to commit; None without."""
        import msgspec

        path = self._path(batch, DECIDED)
        if not self._exists(path):
            return None
        with self._files.open_input_stream(path) as stream:
            packed: list[bytes] = msgspec.msgpack.decode(stream.read(), type=list[bytes])
        return packed

    def decide(self, batch: int, packed: list[bytes]) -> None:
        """Write a decision, which replaces none; it exists as a whole or not at all.

        Args:
            batch: number of the micro-batch.
            packed: half messages of each task (``Halves.pack``).
        """
        import msgspec

        self._write(self._path(batch, DECIDED), msgspec.msgpack.encode(packed))

    def is_done(self, batch: int) -> bool:
        """Return whether all half messages of a decision are committed."""
        return self._exists(self._path(batch, DONE))

    def finish(self, batch: int) -> None:
        """Mark a decision as carried out, and delete those of earlier micro-batches."""
        selector = import_module("pyarrow.fs").FileSelector(self._folder)
        self._write(self._path(batch, DONE), b"")
        for info in self._files.get_file_info(selector):
            number = info.base_name.partition(".")[0]
            if number.isdecimal() and int(number) < batch:
                self._files.delete_file(info.path)

    def _path(self, batch: int, state: str) -> str:
        return f"{self._folder}/{batch}.{state}"

    def _exists(self, path: str) -> bool:
        return bool(self._files.get_file_info(path).is_file)

    def _write(self, path: str, data: bytes) -> None:
        partial = f"{path}.part"
        with self._files.open_output_stream(partial) as stream:
            stream.write(data)
        self._files.move(partial, path)
