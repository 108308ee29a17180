"""A push consumer at a broker in memory: the messages it handles, and its requests."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import trio

from rocketwire.client import PushConsumerConfig, open_push_consumer
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.testing import MemoryNetwork, reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import (
    BROKER,
    NS,
    bring_messages,
    ignore,
    make_messages,
    pull_response,
    refusal,
    route,
    world,
)


def request_fields(network: MemoryNetwork, code: Code) -> list[dict[str, str]]:
    """The fields of the requests of a code."""
    requests = network.peer(BROKER).requests
    return [dict(request.ext_fields or {}) for request in requests if request.code == code]


async def test_a_message_with_a_hanging_handler_is_sent_back(autojump_clock: object) -> None:
    async def hang(*_: object) -> None:
        await trio.sleep_forever()

    config = PushConsumerConfig(consume_timeout=60, await_termination=0)
    async with world() as (network, client):
        bring_messages(network, make_messages())
        async with open_push_consumer(client, "g", {"orders": "*"}, hang, config=config):
            await trio.sleep(59)
            assert request_fields(network, Code.CONSUMER_SEND_MSG_BACK) == []
            await trio.sleep(65)
    (back,) = request_fields(network, Code.CONSUMER_SEND_MSG_BACK)
    assert (back["group"], back["delayLevel"], back["originMsgId"]) == ("g", "3", "ID0")
    assert request_fields(network, Code.UPDATE_CONSUMER_OFFSET)[-1]["commitOffset"] == "1"


async def test_a_message_that_no_broker_takes_back_is_sent_anew(autojump_clock: object) -> None:
    async def fail(*_: object) -> None:
        await trio.lowlevel.checkpoint()
        raise ValueError("not now")

    async with world() as (network, client):
        broker = network.peer(BROKER)
        broker.on(Code.CONSUMER_SEND_MSG_BACK, refusal(ResponseCode.SYSTEM_ERROR))
        stored = SendMessageResponseHeader(msg_id="0" * 32, queue_id=0, queue_offset=1)
        broker.on(Code.SEND_MESSAGE_V2, reply(stored))
        bring_messages(network, make_messages())
        async with open_push_consumer(client, "g", {"orders": "*"}, fail):
            await trio.sleep(3)
    (sent,) = request_fields(network, Code.SEND_MESSAGE_V2)
    assert sent["b"] == "%RETRY%g"
    assert request_fields(network, Code.UPDATE_CONSUMER_OFFSET)[-1]["commitOffset"] == "1"


async def test_added_queues_are_consumed_and_removed_ones_dropped(autojump_clock: object) -> None:
    async with (
        world(poll_name_server_interval=1.0) as (network, client),
        open_push_consumer(client, "g", {"orders": "*"}, ignore) as consumer,
    ):
        for count in (2, 4, 1):
            network.peer(NS).on(Code.GET_ROUTEINFO_BY_TOPIC, route(queues=count))
            await trio.sleep(3)
            queue_ids = [queue.queue_id for queue in consumer.assigned if queue.topic == "orders"]
            assert sorted(queue_ids) == list(range(count))


async def test_a_loop_that_ends_early_leaves_its_message_to_the_next_one(
    autojump_clock: object,
) -> None:
    async with world() as (network, client):
        bring_messages(network, make_messages(3))
        async with open_push_consumer(client, "g", {"orders": "*"}) as consumer:
            async for delivery in consumer:
                if delivery.message.queue_offset == 1:
                    break
    assert request_fields(network, Code.UPDATE_CONSUMER_OFFSET)[-1]["commitOffset"] == "1"


async def test_a_tag_with_an_equal_hash_code_is_filtered(autojump_clock: object) -> None:
    handled_ids: list[str] = []

    async def handle(messages: Sequence[StoredMessage], _: object) -> None:
        await trio.lowlevel.checkpoint()
        handled_ids.extend(message.msg_id for message in messages)

    other_tag, message, last = make_messages(3, TAGS="BBBB")
    message = replace(message, properties={"UNIQ_KEY": "ID1", "TAGS": "AaAa"})
    async with world() as (network, client):
        bring_messages(network, [other_tag, message, last])
        async with open_push_consumer(client, "g", {"orders": "AaAa"}, handle):
            await trio.sleep(30)
    assert handled_ids == ["ID1"]
    assert request_fields(network, Code.UPDATE_CONSUMER_OFFSET)[-1]["commitOffset"] in ("2", "3")


async def test_an_expression_is_checked_by_the_broker_before_the_start() -> None:
    async with world() as (network, client):
        refused = refusal(ResponseCode.SUBSCRIPTION_PARSE_FAILED)
        network.peer(BROKER).on(Code.CHECK_CLIENT_CONFIG, refused)
        with pytest.raises(BrokerError, match="SUBSCRIPTION_PARSE_FAILED"):
            async with open_push_consumer(client, "g", {"orders": ("a >", "SQL92")}, ignore):
                pass


async def test_pulling_continues_at_the_begin_offset_of_the_broker(autojump_clock: object) -> None:
    async def answer(request: RemotingCommand) -> RemotingCommand:
        if (request.ext_fields or {})["queueOffset"] == "0":
            return replace(pull_response(begin=7), code=ResponseCode.PULL_OFFSET_MOVED)
        await trio.sleep(10)
        return pull_response(begin=7)

    def tell_offset(_: RemotingCommand) -> RemotingCommand:
        stored = request_fields(network, Code.UPDATE_CONSUMER_OFFSET)
        return reply(ext_fields={"offset": stored[-1]["commitOffset"] if stored else "0"})

    async with world() as (network, client):
        network.peer(BROKER).on(Code.PULL_MESSAGE, answer)
        network.peer(BROKER).on(Code.QUERY_CONSUMER_OFFSET, tell_offset)
        async with open_push_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(60)
    pulls = [fields["queueOffset"] for fields in request_fields(network, Code.PULL_MESSAGE)]
    assert {"0", "7"} == set(pulls)
    assert request_fields(network, Code.UPDATE_CONSUMER_OFFSET)[-1]["commitOffset"] == "7"
