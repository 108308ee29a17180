"""Captures that several tests look at."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers.foreign.captures import capture
from tests.peers.foreign.files import save
from tests.peers.foreign.profiles import MIXED, Profile
from tests.peers.foreign.tcp import Packet, Truth

SMALL = replace(MIXED, connections=40, frames=2000)
LOSSY = replace(SMALL, lost=0.01, repeated=0.02, reordered=0.02)
LARGE = replace(
    SMALL, connections=4, frames=60, body_log=10.2, body_sigma=0.1, batch=30, foreign=0.0
)
"""Frames of hundreds of kilobytes."""


class Made(NamedTuple):
    path: Path
    packets: list[Packet]
    truth: list[Truth]


def make(path: Path, profile: Profile, seed: int) -> Made:
    traffic = capture(profile, seed, unit=1)
    return Made(save(path, traffic.packets), traffic.packets, traffic.truth)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("sample") / "sample.pcap", SMALL, 1)


@pytest.fixture(scope="session")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("lossy") / "lossy.pcap", LOSSY, 2)
