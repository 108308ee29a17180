"""Paths of a read, as the Python processes of Spark open them."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from rocketwire_tools.spark.option_values import OptionError


def local(path: str) -> str:
    """Return the path of a file that a Python process can open."""
    parts = urlsplit(path)
    if parts.scheme == "file":
        return unquote(parts.path)
    if len(parts.scheme) > 1 and "://" in path:
        message = "Python workers see mounted file systems only, not those of Hadoop"
        raise OptionError(f"{path}: {message}")
    return path
