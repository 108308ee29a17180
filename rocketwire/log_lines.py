"""The log of a program: nothing that a peer wrote changes a terminal or forges a line."""

from __future__ import annotations

import logging

from rocketwire.controls import escape_controls, escape_lines


class EscapingFormatter(logging.Formatter):
    """One record, one line: control characters are escaped; only tracebacks have line breaks."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = escape_controls(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return escape_lines(super().format(record))


def log_to_stderr(layout: str, *, is_verbose: bool = False) -> None:
    """Log to standard error: warnings, or informative lines too.

    Args:
        layout: form of a line, as ``logging.Formatter`` has it.
        is_verbose: whether the level is INFO.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(EscapingFormatter(layout))
    logging.basicConfig(level=logging.INFO if is_verbose else logging.WARNING, handlers=[handler])
