"""Java's broker 5.5.0 meets the cases for brokers, and ours answers the same requests as it does.

``python -m tests.java.broker.releases`` asks earlier releases.
"""

from functools import partial
from pathlib import Path

import pytest
import trio

from rocketwire_tools.conformance.broker_cases import ALL
from rocketwire_tools.conformance.compare.diff import judge, play_both, read_differences
from rocketwire_tools.conformance.run.broker_run import BrokerRun
from rocketwire_tools.conformance.run.runner import Settings, random_word
from rocketwire_tools.conformance.run.target import Address, Target
from tests.integration.conformance.broker_runs import play_at
from tests.integration.conformance.runs import Played
from tests.peers.cluster import JavaCluster
from tests.peers.dev_cluster import DevCluster

PATIENCE = 8.0
QUICK = [case for case in ALL if "slow" not in case.tags]
SHORT = [case for case in ALL if "minute" not in case.tags]


def address_of(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return Address(host, int(port))


@pytest.mark.full
def test_java_meets_every_requirement(java_cluster: JavaCluster) -> None:
    address = address_of(java_cluster.master.address)

    played = trio.run(partial(play_at, address, SHORT, patience=PATIENCE))

    assert played.bad() == []


def test_ours_answers_as_java_but_for_listed_differences(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    word = random_word()
    settings = Settings(run=word, patience=PATIENCE, keep_going=True, destructive=True)
    with DevCluster(tmp_path) as ours:
        runs = [
            BrokerRun(settings, lambda _: None, Target(address_of(cluster.master.address)))
            for cluster in (java_cluster, ours)
        ]
        trio.run(play_both, QUICK, runs)

    listed = read_differences(["rocketwire"], is_broker=True)
    comparison = judge(runs[0].verdicts, runs[1].verdicts, word, listed)

    assert Played(runs[0].verdicts, 0).bad() == []
    assert comparison.played >= 500
    assert [str(difference) for difference in comparison.unexplained] == []
