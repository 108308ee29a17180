"""Calls of hooks for sends, receives and settlements."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from rocketwire.client import (
    ClientConfig,
    ClientHook,
    ConsumeConcurrentlyStatus,
    Message,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_push_consumer,
)
from rocketwire.client.hooks import (
    CommitOffsetContext,
    ConsumeMessageContext,
    ReceiveMessageContext,
    SendMessageContext,
    SettleMessageContext,
)
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, IllegalMessageError, IllegalTypeError
from rocketwire.testing import reply
from rocketwire.wire.message.properties import decode_properties
from tests.support.fakes import producer_fakes
from tests.support.fakes.consumer_fakes import (
    BROKER,
    bring_messages,
    consumer,
    ignore,
    list_logged,
    make_messages,
    refusal,
    world,
)

REFUSAL = refusal(ResponseCode.SYSTEM_ERROR)


class Recorder(ClientHook):
    """Keeps a line for each call."""

    def __init__(self, name: str = "", lines: list[str] | None = None) -> None:
        self.lines = [] if lines is None else lines
        self._name = name

    def _keep(self, line: str) -> None:
        self.lines.append(f"{self._name}{line}")

    def client_started(self, client: object) -> None:
        self._keep("started")

    def client_closed(self, client: object) -> None:
        self._keep("closed")

    def send_message_before(self, context: SendMessageContext) -> object:
        self._keep(f"send {len(context.messages)} of {context.producer_group}")
        return self._name

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        assert state == self._name
        result, error = context.send_result, context.exception
        end = type(error).__name__ if error else result.status.name if result else "no response"
        self._keep(end)

    def send_message_retry(self, client: object, topic: str, broker_name: str) -> None:
        self._keep(f"retry {topic} at {broker_name}")

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        self._keep(f"consume {context.messages[0].msg_id} of {context.consumer_group}")
        return None

    def consume_message_after(self, context: ConsumeMessageContext, state: object) -> None:
        self._keep(f"{context.successes} succeeded")

    def receive_message_after(self, context: ReceiveMessageContext) -> None:
        assert context.seconds >= 0
        end = type(context.exception).__name__ if context.exception else len(context.messages)
        self._keep(f"{context.operation} {context.topic} at {context.broker_name}: {end}")

    def settle_message_after(self, context: SettleMessageContext) -> None:
        end = type(context.exception).__name__ if context.exception else len(context.messages)
        self._keep(f"{context.operation} {context.topic} at {context.broker_name}: {end}")

    def commit_offset_after(self, context: CommitOffsetContext) -> None:
        end = type(context.exception).__name__ if context.exception else context.offset
        by = "background" if context.in_background else "application"
        queue = f"{context.topic} {context.message_queue.queue_id} at {context.broker_name}"
        self._keep(f"{context.operation} {queue} by the {by}: {end}")


@pytest.fixture
def hook() -> Recorder:
    return Recorder()


class Marking(ClientHook):
    """Adds a property to each message."""

    def send_message_before(self, context: SendMessageContext) -> object:
        context.messages = [
            replace(message, properties={**message.properties, "mark": "m"})
            for message in context.messages
        ]
        return None


class Broken(ClientHook):
    """Fails in each method."""

    def __init__(self) -> None:
        self.continued = 0

    def client_started(self, client: object) -> None:
        raise ValueError("started")

    def send_message_before(self, context: object) -> object:
        raise ValueError("before")

    def send_message_after(self, context: object, state: object) -> None:
        self.continued += 1

    def consume_message_after(self, context: object, state: object) -> None:
        raise ValueError("after")


def test_the_guide_has_each_method_of_a_hook() -> None:
    page = (Path(__file__).parents[3] / "docs/guide/observing-clients.md").read_text("utf-8")
    rows = page.partition("| Method | Called |")[2].splitlines()[2:]
    cells = [row.split("|")[1] for row in rows if row.startswith("|")]
    documented = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert documented == [
        name
        for name, member in vars(ClientHook).items()
        if callable(member) and not name.startswith("_")
    ]


# ---------------------------------------------------------------------- sends


async def test_hooks_see_a_send_from_outside_to_inside_and_back() -> None:
    lines: list[str] = []
    hooks = (Recorder("a ", lines), Recorder("b ", lines))
    async with producer_fakes.world(client={"hooks": hooks}) as opened:
        await opened.producer.send(Message("T", b"x"))
        assert lines == [
            *("a started", "b started"),
            *("a send 1 of pg", "b send 1 of pg", "b SEND_OK", "a SEND_OK"),
        ]
    assert lines[-2:] == ["a closed", "b closed"]


async def test_hooks_see_each_kind_of_send(hook: Recorder) -> None:
    async with producer_fakes.world(client={"hooks": [hook]}) as opened:
        queue = (await opened.producer.queues("T"))[0]
        hook.lines.clear()
        await opened.producer.send_to(Message("T", b"x"), queue)
        await opened.producer.send_batch([Message("T", b"x"), Message("T", b"y")])
        opened.a.on(Code.SEND_MESSAGE_V2, None)
        await opened.producer.send_oneway(Message("T", b"x"), queue)
        with pytest.raises(IllegalMessageError):
            await opened.producer.send(Message("T", b""))
    assert hook.lines[:-1] == [
        *("send 1 of pg", "SEND_OK"),
        *("send 2 of pg", "SEND_OK"),
        *("send 1 of pg", "no response"),
        *("send 1 of pg", "IllegalMessageError"),
    ]


async def test_hooks_see_that_another_broker_is_tried(hook: Recorder) -> None:
    async with producer_fakes.world(client={"hooks": [hook]}) as opened:
        for peer in (opened.a, opened.b):
            peer.on(Code.SEND_MESSAGE_V2, reply(code=ResponseCode.TOPIC_NOT_EXIST))
        with pytest.raises(Exception, match="T"):
            await opened.producer.send(Message("T", b"x"))
        refused = hook.lines[2:]
        opened.a.on(Code.SEND_MESSAGE_V2, producer_fakes.send_response)
        opened.b.on(Code.SEND_MESSAGE_V2, producer_fakes.send_response)
    retries = [line for line in refused if line.startswith("retry T at ")]
    assert len(retries) == 2
    assert set(retries) == {"retry T at a", "retry T at b"}


async def test_a_hook_may_change_the_messages() -> None:
    async with producer_fakes.world(client={"hooks": [Marking()]}) as opened:
        await opened.producer.send(Message("T", b"x", properties={"own": "1"}))
        await opened.producer.send(Message("T", b"x"))
        sent = [decode_properties((request.ext_fields or {})["i"]) for request in opened.sent()]
    marks = [(properties.get("own"), properties["mark"]) for properties in sent]
    assert marks == [("1", "m"), (None, "m")]


async def test_the_error_of_a_hook_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    hook, broken = Recorder(), Broken()
    async with producer_fakes.world(client={"hooks": [broken, hook]}) as opened:
        for _ in range(3):
            await opened.producer.send(Message("T", b"x"))
    assert hook.lines.count("SEND_OK") == 3
    assert not broken.continued  # no second method after a first that failed
    assert list_logged(caplog) == ["hook Broken failed"]


async def test_a_trace_and_a_hook_see_the_same_sends(hook: Recorder) -> None:
    async with producer_fakes.world(
        client={"hooks": [hook]}, brokers=("a",), enable_trace=True
    ) as opened:
        await opened.producer.send(Message("T", b"x"))
    assert hook.lines == ["started", "send 1 of pg", "SEND_OK", "closed"]
    topics = [(request.ext_fields or {})["b"] for request in opened.sent()]
    assert topics == ["T", "RMQ_SYS_TRACE_TOPIC"]


async def test_without_hooks_a_client_has_no_chain() -> None:
    async with producer_fakes.world() as opened:
        assert opened.client.hooks is None


@pytest.mark.parametrize("hooks", [Recorder(), [5], "hook", None])
def test_other_types_than_hooks_are_refused(hooks: Any) -> None:
    with pytest.raises(IllegalTypeError, match=r"ClientConfig.hooks: expected a tuple of hooks"):
        ClientConfig(hooks=hooks)


# ---------------------------------------------------------------------- consumers


COMMIT = "commit orders 0 at b by the background: 1"


@pytest.mark.parametrize(
    ("flavour", "result", "lines"),
    [
        (
            "concurrent",
            ConsumeConcurrentlyStatus.RECONSUME_LATER,
            ["0 succeeded", "send_back orders at b: 1", COMMIT],
        ),
        ("orderly", None, ["1 succeeded", COMMIT]),
        ("pop", None, ["1 succeeded", "ack orders at b: 1"]),
        ("pop", False, ["0 succeeded", "change_invisible_time orders at b: 1"]),
    ],
)
async def test_hooks_see_the_calls_of_a_consumer(
    hook: Recorder, autojump_clock: object, flavour: str, result: object, lines: list[str]
) -> None:
    async def handle(*_: object) -> Any:
        await trio.lowlevel.checkpoint()
        return result

    async with world(hooks=[hook]) as (network, client):
        bring_messages(network, make_messages())
        async with consumer(flavour, client, handler=handle):
            await trio.sleep(3)
    pull = "pop" if flavour == "pop" else "pull"
    expected = [f"{pull} orders at b: 1", "consume ID0 of g", *lines]
    assert hook.lines == ["started", *expected, "closed"]


async def test_hooks_see_a_lite_pull_consumer(hook: Recorder, autojump_clock: object) -> None:
    async with world(hooks=[hook]) as (network, client):
        bring_messages(network, make_messages())
        async with open_lite_pull_consumer(client, "g") as consumer:
            consumer.subscribe("orders")
            batch = await consumer.poll(10)
            assert batch is not None
            await consumer.commit()
    queue = f"orders {batch.message_queue.queue_id}"  # either: both are pulled at once
    assert hook.lines[1:-1] == ["poll orders at b: 1", f"commit {queue} at b by the application: 1"]


async def test_hooks_see_pulls_that_fail(hook: Recorder, autojump_clock: object) -> None:
    async with world(hooks=[hook]) as (network, client):
        for code in (Code.PULL_MESSAGE, Code.POP_MESSAGE):
            network.peer(BROKER).on(code, REFUSAL)
        async with consumer("concurrent", client):
            await trio.sleep(1.5)
        async with consumer("pop", client):
            await trio.sleep(1.5)
    assert {f"{name} orders at b: BrokerError" for name in ("pull", "pop")} <= set(hook.lines)


@pytest.mark.parametrize("refused", [False, True], ids=["stored", "refused"])
async def test_hooks_see_commits(hook: Recorder, autojump_clock: object, refused: bool) -> None:
    async with world(hooks=[hook]) as (network, client):
        bring_messages(network, make_messages())
        if refused:
            network.peer(BROKER).on(Code.UPDATE_CONSUMER_OFFSET, REFUSAL)
        async with open_push_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(client.config.persist_consumer_offset_interval + 1)
    end = "BrokerError" if refused else "1"
    assert f"commit orders 0 at b by the background: {end}" in hook.lines


async def test_a_refused_settlement_has_its_error(hook: Recorder, autojump_clock: object) -> None:
    async with world(hooks=[hook]) as (network, client):
        bring_messages(network, make_messages())
        network.peer(BROKER).on(Code.ACK_MESSAGE, REFUSAL)
        async with open_pop_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(3)
    assert hook.lines[-2] == f"ack orders at b: {BrokerError.__name__}"


async def test_the_error_of_a_hook_fails_no_handler(
    hook: Recorder, autojump_clock: object, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(hooks=[Broken(), hook]) as (network, client):
        bring_messages(network, make_messages())
        async with open_push_consumer(client, "g", {"orders": "*"}, ignore):
            await trio.sleep(1)
    assert "1 succeeded" in hook.lines
    assert list_logged(caplog) == ["hook Broken failed"]
