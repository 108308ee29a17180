"""Texts of remote senders for the log: one line of bounded length.

A sender chooses id, tags and keys of a message, with line breaks and terminal controls. Log lines
with such texts must use ``log_text``.
"""

from __future__ import annotations

from typing import Final

from rocketwire.controls import escape_controls

MAX_LENGTH: Final = 128  # maximum characters of a text in the log; an id of a client has at most 48


def log_text(text: str) -> str:
    if text.isprintable() and len(text) <= MAX_LENGTH:
        return text
    suffix = f"... ({len(text)} characters)" if len(text) > MAX_LENGTH else ""
    return escape_controls(text[:MAX_LENGTH]) + suffix
