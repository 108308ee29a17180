"""The largest frames and messages of real Java: our servers accept those of its programs, our clients read those of its servers."""

from pathlib import Path

import pytest

from rocketwire.client import open_client
from rocketwire.client.admin import open_admin
from rocketwire.codes import RequestCode
from rocketwire.messages.groups import SubscriptionGroupConfig
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.json.limits import DEFAULT_LIMITS
from tests.peers.client_settings import PATIENCE, patient
from tests.peers.cluster import JavaCluster
from tests.peers.messages import create_topic, unique
from tests.peers.peers import JavaPeer
from tests.peers.raw_call import ask
from tests.peers.shared_peers import have_here
from tests.support.name_servers import name_server

pytestmark = pytest.mark.full


VALUES = {
    "commas": "a," * 70_000,
    "brackets": "[{" * 70_000,
    "commas behind quotation marks": '",' * 50_000,
    "commas behind backslashes": "\\\\," * 50_000,
}


@pytest.mark.parametrize("product", ["java", "ours"])
def test_values_of_commas_brackets_and_escapes_are_stored_and_told(
    tmp_path: Path, product: str
) -> None:
    have_here()
    with name_server(product, tmp_path) as server:
        for key, value in VALUES.items():
            place = {"namespace": "n", "key": key}
            put = ask(server.port, RequestCode.PUT_KV_CONFIG, {**place, "value": value})
            answer = ask(server.port, RequestCode.GET_KV_CONFIG, place)

            assert put.header["code"] == answer.header["code"] == 0
            assert answer.header["extFields"] == {"value": value}


@pytest.mark.parametrize("product", ["java", "ours"])
def test_mqadmin_stores_the_order_of_queues_of_ten_thousand_brokers(
    tmp_path: Path, java_peer: JavaPeer, product: str
) -> None:
    value = ",".join(f"broker-{number}:8" for number in range(10_000))
    with name_server(product, tmp_path) as server:
        out, err = java_peer.admin(server.address, f"updateKvConfig -s n -k k -v {value}")
        answer = ask(server.port, RequestCode.GET_KV_CONFIG, {"namespace": "n", "key": "k"})

    assert "success" in out, err
    assert answer.header["extFields"] == {"value": value}


async def test_stats_of_a_topic_and_a_group_of_thirty_thousand_queues_are_read(
    java_cluster: JavaCluster,
) -> None:
    number = 30_000
    assert number * 170 > DEFAULT_LIMITS.max_odd_size
    group = unique("wide")
    async with (
        open_client(patient(namesrv_addr=java_cluster.address)) as client,
        open_admin(client, within=PATIENCE) as admin,
    ):
        topic = await create_topic(client, unique("wide"), queues=number)
        address = await client.master("broker-a", topic)
        await admin.groups.create_or_update(
            SubscriptionGroupConfig(group_name=group), broker=address
        )
        try:
            last = MessageQueue(topic=topic, broker_name="broker-a", queue_id=number - 1)
            await client.brokers.update_consumer_offset(address, group, last, 0)
            stats = await admin.consumers.stats_of(address, group, topic)
            assert len(stats.offset_table or {}) == number
            topic_stats = await admin.topics.stats_of(address, topic)
            assert len(topic_stats.offset_table or {}) == number
        finally:
            await admin.topics.delete(topic, "DefaultCluster")
