"""Captures that several tests look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.captures.builder import make, save
from tests.support.captures.network import LOSSY, Packet, SentFrame, Trouble
from tests.support.captures.traffic import Profile

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Profile(connections=40, exchanges=25, body=(64, 2500))


class Made(NamedTuple):
    """A capture, its packets, and the truth about its frames."""

    path: Path
    packets: list[Packet]
    truth: list[SentFrame]


@pytest.fixture(scope="session")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A capture with a few repetitions and reorderings."""
    packets, truth = make(SMALL, seed=1, trouble=Trouble())
    return Made(save(tmp_path_factory.mktemp("usual") / "usual.pcap", packets), packets, truth)


@pytest.fixture(scope="session")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A capture that missed one packet in a hundred."""
    packets, truth = make(SMALL, seed=2, trouble=LOSSY)
    return Made(save(tmp_path_factory.mktemp("lossy") / "lossy.pcap", packets), packets, truth)
