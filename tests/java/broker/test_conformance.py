"""Java's brokers meet the cases for brokers, each those of its profile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire_tools.conformance.model.case import Profile
from rocketwire_tools.conformance.run.target import Address
from tests.integration.conformance.broker_runs import play_at
from tests.support.java import class_archive
from tests.support.java.cluster import JavaCluster

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

EARLIER = {"5.3.3": Profile.JAVA_5_3, "4.9.4": Profile.JAVA_4_9}


def bad(address: str, profile: Profile) -> list[str]:
    host, _, port = address.rpartition(":")
    play = partial(play_at, Address(host, int(port)), profile=profile, patience=8.0)
    return trio.run(play).bad()


def test_java_meets_every_requirement(java_cluster: JavaCluster) -> None:
    assert bad(java_cluster.master.address, Profile.JAVA_5_5) == []


@pytest.mark.parametrize("version", EARLIER)
def test_earlier_releases_meet_the_requirements_of_their_profiles(
    version: str, tmp_path: Path
) -> None:
    class_archive.record_broker(version)

    with JavaCluster(tmp_path, version=version) as cluster:
        assert bad(cluster.master.address, EARLIER[version]) == []
