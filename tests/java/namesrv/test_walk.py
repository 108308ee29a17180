"""A random walk at Java's name server and ours: after every step both respond with the same bytes."""

import random
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.java.namesrv.random_walk import Walk, Walker
from tests.peers.processes import PeerFailedError, wait_until
from tests.support.name_servers import name_server, start_all

STEPS = 150
LATE_SECONDS = 60.0
"""Within which Java has done what it does after it has answered: unregister brokers."""


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (2, {"supportActingMaster": "true"}),
        pytest.param(
            3,
            {"orderMessageEnable": "true", "deleteTopicWithBrokerRegistration": "true"},
            marks=pytest.mark.full,
        ),
    ],
)
def test_both_answer_the_same_after_every_step(
    seed: int, options: Mapping[str, object], java: None, tmp_path: Path
) -> None:
    settings = {**options, "kvConfigPath": "kvConfig.json", "rocketwire.splitRegistrationSize": 0}
    servers = {
        product: name_server(product, tmp_path / product, settings) for product in ("java", "ours")
    }
    walk = Walk(random.Random(seed))
    with (
        start_all(*servers.values()),
        closing(Walker(servers["java"].port)) as java_walker,
        closing(Walker(servers["ours"].port)) as our_walker,
    ):
        for number in range(STEPS):
            step = walk.step()
            assert our_walker.walk(step) == java_walker.walk(step), (number, step)
            try:
                wait_until(
                    lambda: our_walker.read_all() == java_walker.read_all(), "same", LATE_SECONDS
                )
            except PeerFailedError:
                pairs = zip(our_walker.read_all(), java_walker.read_all(), strict=True)
                different = [pair for pair in pairs if pair[0] != pair[1]]
                assert different == [], (number, step)

    files = [(tmp_path / product / "kvConfig.json").read_bytes() for product in servers]
    assert files[0] == files[1]
