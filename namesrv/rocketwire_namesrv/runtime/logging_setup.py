"""Sets up the log: its destination, and the form of its lines.

Lines look like Java's (``2026-01-31 12:00:00 INFO main - text``) and go to Java's file,
``<user.home>/logs/rocketmqlogs/namesrv.log``; warnings go to stderr as well.  Two differences: the
clock is the machine's local time (Java: GMT+8 everywhere), and old files are ``namesrv.log.1`` to
``.10``, not compressed.

Java: ``rmq.namesrv.logback.xml``.
"""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from typing import Final

from rocketwire.os_errors import os_error_text
from rocketwire.program import EscapingFormatter

LOGGER: Final = logging.getLogger("rocketwire.namesrv")

_FILE_SIZE: Final = 100 * 1024 * 1024
_FILES: Final = 10
_LEVEL_NAMES: Final = {"WARNING": "WARN", "CRITICAL": "ERROR"}


class NamesrvFormatter(EscapingFormatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(level)s %(thread_)s - %(message)s", "%Y-%m-%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.level = _LEVEL_NAMES.get(record.levelname, record.levelname)
        record.thread_ = "main" if record.threadName == "MainThread" else record.threadName
        return super().formatMessage(record)


def log_path(home: str) -> str:
    return os.path.join(home, "logs", "rocketmqlogs", "namesrv.log")


def set_up(choice: str, home: str) -> str:
    """Direct the log.

    Args:
        choice: ``file`` (the file, and stderr from WARNING on), ``stderr`` (all on stderr) or
            ``off``.  If the file cannot be written, ``file`` means ``stderr``.
        home: the user's home directory.

    Returns:
        The destination: the path of the file, ``stderr`` or ``off``.

    Raises:
        ValueError: another choice.
    """
    if choice not in {"file", "stderr", "off"}:
        raise ValueError(f"ROCKETWIRE_LOG must be file, stderr or off, not {choice!r}")
    tear_down()
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    if choice == "off":
        LOGGER.addHandler(logging.NullHandler())
        return choice
    console = logging.StreamHandler()
    console.setFormatter(NamesrvFormatter())
    LOGGER.addHandler(console)
    if choice == "file":
        path = log_path(home)
        try:
            _add_file(path)
        except OSError as error:
            LOGGER.warning("no log file, all goes to stderr: %s", os_error_text(error))
            return "stderr"
        console.setLevel(logging.WARNING)
        return path
    return choice


def _add_file(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handler = RotatingFileHandler(
        path, maxBytes=_FILE_SIZE, backupCount=_FILES, encoding="utf-8", errors="backslashreplace"
    )
    handler.setFormatter(NamesrvFormatter())
    LOGGER.addHandler(handler)


def tear_down() -> None:
    for handler in LOGGER.handlers[:]:
        LOGGER.removeHandler(handler)
        handler.close()
