"""``rocketwire-store check`` on stores of all kinds: real brokers leave nothing that it calls damage."""

from pathlib import Path

import pytest
import trio

from rocketwire.client import Message
from rocketwire_tools.store.checks.view import StoreView
from tests.peers.peers import CURRENT, OLD
from tests.support.stores.checked import checked, damage_of
from tests.support.stores.cluster import StoreCluster
from tests.support.stores.sending import Sender, text_body


@pytest.mark.parametrize("release", [CURRENT, OLD])
def test_a_store_that_a_broker_writes_is_checked_without_false_damage(
    release: str, tmp_path: Path
) -> None:
    checks: list[StoreView] = []

    async def send(sender: Sender) -> None:
        while len(checks) < 5:
            batch = [Message("orders", text_body(400, number), tags="a") for number in range(20)]
            await sender.send_all(batch, (0, 1, 2, 3))

    async def run() -> None:
        async with cluster.session() as session, trio.open_nursery() as nursery:
            await session.create_topic("orders", 4)
            nursery.start_soon(send, Sender(session))
            while len(checks) < 5:
                await trio.sleep(0.2)
                if any((cluster.store / "commitlog").glob("0*")):
                    checks.append(await trio.to_thread.run_sync(checked, cluster.store))

    with StoreCluster(tmp_path, release) as cluster:
        trio.run(run)

    assert all(check.is_in_use for check in checks)
    assert [damage_of(check) for check in checks] == [{}] * 5
    counts = [check.log.messages for check in checks]
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
