"""Texts of errors of the operating system, without their numbers."""

from __future__ import annotations

from typing import cast


def os_error_text(error: Exception) -> str:
    """Return the text of an error, for example ``/a/file: no such file or directory``.

    Errors that are not of the operating system keep their text.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    reason = error.strerror[:1].lower() + error.strerror[1:]
    return reason if error.filename is None else f"{error.filename}: {reason}"


def reason_of_no_connection(error: Exception) -> Exception:
    """Return the system's error behind a failed connection.

    ``trio.open_tcp_stream`` says only that all addresses of a host failed; the reason of the first
    one is in the cause.
    """
    cause: BaseException | None = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cast("BaseExceptionGroup[BaseException]", cause).exceptions[0]
    has_reason = getattr(error, "strerror", None)
    return cause if not has_reason and isinstance(cause, OSError) else error
