"""Captures to measure with, generated once: those of ``bench.pcap``, and one that is only difficult
for Spark."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench.pcap.captures import LARGE, PROFILES, Folder

if TYPE_CHECKING:
    from pathlib import Path

_SKEWED: Final = replace(PROFILES["mixed"], connections=285, frames=340_000, largest=0.85)
"""Half a gigabyte, 85 % of it on one connection."""


def mixed() -> Path:
    """A gigabyte of the traffic that a cluster has."""
    return _folder().capture(LARGE).path


def skewed() -> Path:
    """Half a gigabyte, most of it on one connection."""
    return _folder().skewed(_SKEWED)


def _folder() -> Folder:
    return Folder(lambda line: print(line, file=sys.stderr))
