"""The fixture ``rocketmq``: a name server and brokers that keep messages, in a thread of the test."""

import asyncio
from collections.abc import Sequence

import pytest
import trio

from rocketwire.client import ClientConfig, Message, PushConsumerConfig, open_producer
from rocketwire.client.consumer.push.push_consumer import open_push_consumer
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import RocketWireError
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from rocketwire_tools.pytest_plugin.cluster import RocketMQ
from rocketwire_tools.pytest_plugin.requests import ask

HEARTBEAT = RemotingCommand(code=RequestCode.HEART_BEAT, body=b'{"clientID":"c"}')


def send(rocketmq: RocketMQ, topic: str, *bodies: bytes, retries: int = 2) -> None:
    """The program under test: a producer."""

    async def run() -> None:
        config = ClientConfig(namesrv_addr=rocketmq.address, poll_name_server_interval=1.0)
        async with open_producer(config, "producers") as producer:
            for body in bodies:
                await producer.send(Message(topic, body))

    trio.run(run)


def consume(rocketmq: RocketMQ, topic: str, group: str, count: int) -> list[bytes]:
    """The program under test: a consumer that ends after some messages."""
    bodies: list[bytes] = []

    async def run() -> None:
        end = trio.Event()

        async def listen(messages: Sequence[StoredMessage], context: object) -> None:
            bodies.extend(message.body or b"" for message in messages)
            if len(bodies) >= count:
                end.set()

        config = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)
        async with open_push_consumer(rocketmq.address, group, {topic: "*"}, listen, config=config):
            with trio.fail_after(20):
                await end.wait()

    trio.run(run)
    return bodies


def read_bodies(rocketmq: RocketMQ, topic: str) -> list[bytes | None]:
    return [message.body for message in rocketmq.messages(topic)]


def test_what_a_program_sends_is_there(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()

    send(rocketmq, topic, b"one", b"two")

    assert [message.body for message in rocketmq.wait_for_messages(topic, 2)] == [b"one", b"two"]


def test_a_program_receives_messages_of_a_test(rocketmq: RocketMQ) -> None:
    topic, group = rocketmq.topic(), rocketmq.group()
    ids = rocketmq.produce(topic, b"one", b"two", tag="T", keys="k1 k2")

    bodies = consume(rocketmq, topic, group, 2)
    rocketmq.wait_until_consumed(group, topic)

    assert sorted(bodies) == [b"one", b"two"]
    assert [(message.properties or {})["UNIQ_KEY"] for message in rocketmq.messages(topic)] == ids
    assert rocketmq.lag(group) == 0
    assert rocketmq.lag("others", topic) == 2


def test_a_delay_of_two_hours_takes_no_time(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.produce(topic, b"late", delay_level=18)

    rocketmq.advance(7_199)
    assert rocketmq.messages(topic) == []
    rocketmq.advance(1)

    assert read_bodies(rocketmq, topic) == [b"late"]


@pytest.mark.rocketmq(brokers=2, topics=["orders"])
def test_a_producer_goes_to_the_other_broker(rocketmq: RocketMQ) -> None:
    rocketmq.broker.refuse_next(ResponseCode.SYSTEM_BUSY, times=100)

    send(rocketmq, "orders", *[b"%d" % number for number in range(8)])

    assert len(rocketmq.messages("orders")) == 8
    assert {message.store_host.port for message in rocketmq.messages("orders")} == {
        int(rocketmq.brokers[1].address.rpartition(":")[2])
    }


def test_a_full_disk_fails_a_send(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.broker.refuse_next(ResponseCode.SERVICE_NOT_AVAILABLE, times=100)

    with pytest.raises(RocketWireError):
        send(rocketmq, topic, b"x")

    rocketmq.broker.clear_faults()
    send(rocketmq, topic, b"y")
    assert read_bodies(rocketmq, topic) == [b"y"]


def test_a_cut_connection_costs_a_retry(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.broker.cut_next()

    send(rocketmq, topic, b"x")

    assert read_bodies(rocketmq, topic) == [b"x"]


def test_requests_may_be_slow_or_remain_without_an_answer(rocketmq: RocketMQ) -> None:
    broker = rocketmq.broker
    broker.lose_next_answers(requests=[RequestCode.HEART_BEAT])
    broker.delay_next(0.2, requests=[RequestCode.HEART_BEAT])

    for _ in range(2):
        with pytest.raises(TimeoutError):
            ask(broker.address, HEARTBEAT, seconds=0.05)

    assert ask(broker.address, HEARTBEAT).code == 0


def test_replies_of_a_test_come_in_order_and_the_last_one_stays(rocketmq: RocketMQ) -> None:
    broker, code = rocketmq.broker, RequestCode.SEND_MESSAGE_V2
    request = RemotingCommand(code=code, body=b"abc")
    busy = RemotingCommand(code=ResponseCode.SYSTEM_BUSY, remark="later")

    def reverse(request: RemotingCommand) -> RemotingCommand:
        fields = {"code": str(request.code)}
        return RemotingCommand(code=0, ext_fields=fields, body=bytes(request.body or b"")[::-1])

    broker.on(code, busy, reverse)
    answers = [ask(broker.address, request) for _ in range(3)]

    assert [answer.code for answer in answers] == [ResponseCode.SYSTEM_BUSY, 0, 0]
    assert (answers[0].remark, answers[2].ext_fields) == ("later", {"code": "310"})
    assert answers[2].body == b"cba"
    broker.on(code, None)
    with pytest.raises(TimeoutError):
        ask(broker.address, request, seconds=0.05)
    broker.clear_faults()
    assert ask(broker.address, request).code == ResponseCode.SYSTEM_ERROR  # it has no topic
    assert ask(broker.address, HEARTBEAT).code == 0


def test_a_stopped_broker_keeps_its_messages_and_its_address(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.produce(topic, b"before")
    address = rocketmq.broker.address

    rocketmq.broker.restart()
    send(rocketmq, topic, b"after")

    assert rocketmq.broker.address == address
    assert read_bodies(rocketmq, topic) == [b"before", b"after"]


def test_dead_letters_are_those_of_their_group(rocketmq: RocketMQ) -> None:
    rocketmq.produce("%DLQ%readers", b"dead")

    assert [message.body for message in rocketmq.dead_letters("readers")] == [b"dead"]
    assert rocketmq.dead_letters("others") == []


@pytest.mark.rocketmq(messageDelayLevel="1s 1s")
def test_settings_are_those_of_broker_conf(rocketmq: RocketMQ) -> None:
    assert rocketmq.do(lambda: rocketmq.broker.state.config.delay_levels) == "1s 1s"


def test_an_asyncio_program_uses_it_as_well(rocketmq: RocketMQ) -> None:
    from rocketwire.aio import open_producer as open_aio_producer

    topic = rocketmq.topic()

    async def main() -> None:
        async with open_aio_producer(rocketmq.address, "producers") as producer:
            await producer.send(Message(topic, b"from asyncio"))

    asyncio.run(main())

    assert read_bodies(rocketmq, topic) == [b"from asyncio"]


def test_a_wait_without_success_names_the_missing_messages(rocketmq: RocketMQ) -> None:
    topic = rocketmq.topic()
    rocketmq.produce(topic, b"one")

    with pytest.raises(TimeoutError, match="readers has not consumed 1 messages after 0 s"):
        rocketmq.wait_until_consumed("readers", topic, timeout=0)
    with pytest.raises(TimeoutError, match=f"{topic} has 1 messages, not 2"):
        rocketmq.wait_for_messages(topic, 2, timeout=0)


def test_a_year_passes_quickly(rocketmq: RocketMQ) -> None:
    rocketmq.produce("orders", b"old")

    rocketmq.advance(366 * 86_400)

    rocketmq.produce("orders", b"new")
    assert read_bodies(rocketmq, "orders")[-1] == b"new"


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_time_goes_on_by_a_number_of_seconds(rocketmq: RocketMQ, seconds: float) -> None:
    with pytest.raises(ValueError, match="must be seconds"):
        rocketmq.advance(seconds)
