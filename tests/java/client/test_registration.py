"""Being a broker to Java's name server and to ours: the same test for both."""

from collections.abc import Iterator

import pytest

from rocketwire.client import (
    BrokerIdentity,
    ClientInstance,
    RegistrationSettings,
    open_client,
    open_registration,
)
from rocketwire.errors import TopicRouteNotFoundError
from rocketwire.messages.registration import TopicConfig
from tests.peers.client_settings import patient
from tests.peers.messages import eventually
from tests.peers.processes import free_ports
from tests.support.name_servers import NameServer, name_server


@pytest.fixture(scope="module", params=["java", "ours"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NameServer]:
    options = {"notifyMinBrokerIdChanged": "true", "supportActingMaster": "true"}
    folder = tmp_path_factory.mktemp("registry")
    with name_server(str(request.param), folder, options) as running:
        yield running


def identity(name: str, broker_id: int = 0) -> BrokerIdentity:
    address = f"127.0.0.1:{free_ports((0, 1))}"
    return BrokerIdentity(
        cluster_name="registered", broker_name=name, broker_addr=address, broker_id=broker_id
    )


def topics(*names: str) -> list[TopicConfig]:
    return [TopicConfig(topic_name=name, read_queue_nums=3, write_queue_nums=2) for name in names]


async def queues(client: ClientInstance, topic: str) -> list[tuple[str | None, int, int]]:
    try:
        route = await client.name_servers.route(topic)
    except TopicRouteNotFoundError:
        return []
    return [
        (queue.broker_name, queue.read_queue_nums, queue.write_queue_nums)
        for queue in route.queue_datas or ()
    ]


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(RegistrationSettings(), id="whole"),
        pytest.param(RegistrationSettings(packed=True), id="packed"),
        pytest.param(RegistrationSettings(split_size=2), id="in-parts"),
        pytest.param(RegistrationSettings(split_size=2, packed=True), id="packed-in-parts"),
    ],
)
async def test_a_registered_broker_has_routes_until_it_leaves(
    server: NameServer, settings: RegistrationSettings
) -> None:
    config = patient(namesrv_addr=server.address)
    who = identity(f"broker-{settings.packed}-{settings.split_size}")
    here = [(who.broker_name, 3, 2)]
    names = [f"{who.broker_name}-{number}" for number in range(5)]
    async with open_client(config) as client:
        async with open_registration(who, topics(*names), config, settings=settings) as broker:
            assert list(broker.results) == [server.address]
            assert [await queues(client, name) for name in names] == [here] * 5
            route = await client.name_servers.route(names[0])
            assert [data.broker_addrs for data in route.broker_datas or ()] == [
                {0: who.broker_addr}
            ]

            await broker.update_topics(topics(f"{who.broker_name}-later"))
            assert await queues(client, f"{who.broker_name}-later") == here
            assert await queues(client, names[0]) == here

        async def has_left() -> bool:  # Java answers before it forgets
            return await queues(client, names[0]) == []

        await eventually(has_left)
