"""Requests to other brokers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio

from rocketwire.client.admin import open_admin
from rocketwire_broker.config import Config
from rocketwire_broker.server.programs import open_broker, open_name_server
from rocketwire_broker.tables.forwards import Answered, Forward
from tests.support.broker_pair import TOPIC, detail, item

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand

pytestmark = pytest.mark.slow


async def test_a_request_goes_to_a_broker_by_its_name_and_its_answer_comes_back() -> None:
    config = Config(listen_port=0)
    async with (
        open_name_server(0, "127.0.0.1") as address,
        open_broker(replace(config, namesrv_addr=address)) as server,
        open_broker(replace(config, namesrv_addr=address, broker_name="broker-b")) as other,
    ):
        other.broker.mappings.put(detail("broker-b", item("broker-b")), other.clock.now())
        answers: dict[str, RemotingCommand | None] = {}
        all_came = trio.Event()

        def keeper(name: str) -> Answered:
            def keep(answer: RemotingCommand | None, now: int) -> None:
                answers[name] = answer
                if len(answers) == 2:
                    all_came.set()

            return keep

        fields = {"topic": "TBW102", "queueId": "0", "lo": "false"}
        for name in ("broker-b", "nobody"):
            forward = Forward(name, 30, fields, keeper(name))
            server.broker.forwards.ask(forward, server.clock.now())
        with trio.fail_after(60):
            await all_came.wait()

    answer = answers["broker-b"]
    assert answer is not None
    assert (answer.code, answer.ext_fields) == (0, {"offset": "0"})
    assert answers["nobody"] is None


async def test_logical_queues_are_in_the_routes_of_name_servers() -> None:
    async with open_name_server(0, "127.0.0.1") as address:
        config = Config(listen_port=0, namesrv_addr=address)
        async with open_broker(config), open_admin(address) as admin:
            await admin.static_topics.create_or_update(TOPIC, 2, ["broker-a"])
            route = await admin.clusters.route(TOPIC)

    mapping = (route.topic_queue_mapping_by_broker or {})["broker-a"]
    assert mapping.curr_id_map == {0: 0, 1: 1}
