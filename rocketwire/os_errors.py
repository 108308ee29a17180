"""The text of an error of the operating system, without its number."""

from __future__ import annotations


def os_error_text(error: Exception) -> str:
    """Return the text of an error, for example ``/a/file: no such file or directory``.

    Errors that are not of the operating system keep their text.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    reason = error.strerror[:1].lower() + error.strerror[1:]
    return reason if error.filename is None else f"{error.filename}: {reason}"
