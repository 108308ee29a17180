"""Java cuts the log of a damaged store where ``rocketwire-store check`` predicts."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from rocketwire.errors import BrokerError
from tests.peers.peers import CURRENT, JavaNameServer
from tests.support.stores import copy_store, damage
from tests.support.stores.checked import checked
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.fixtures import unpack


def kill_and_flip_body(root: Path) -> None:
    damage.kill(root)
    damage.flip_body(root)


HARM = (kill_and_flip_body, damage.kill, damage.flip_body, damage.kill_and_zero_page)


@pytest.mark.parametrize(
    "harm", [HARM[0], *(pytest.param(harm, marks=pytest.mark.full) for harm in HARM[1:])]
)
def test_java_cuts_the_log_where_the_check_says(
    harm: Callable[[Path], None], tmp_path: Path, name_server: JavaNameServer
) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "store").root
    harm(root)
    start = checked(root).start
    cluster = StoreCluster(tmp_path / "broker", CURRENT, name_server=name_server)
    copy_store(root, cluster.store)

    async def log_end() -> int:
        async with cluster.session() as session:
            while True:
                try:
                    table = await session.admin.brokers.runtime_info(session.address)
                except BrokerError:  # it has no samples of its rates yet
                    await trio.sleep(0.5)
                else:
                    return int(table["commitLogMaxOffset"])

    with cluster:
        end = trio.run(log_end)

    assert start is not None
    assert end == start.cut
