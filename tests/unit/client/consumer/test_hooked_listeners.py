"""What hooks see of the calls of a handler."""

from __future__ import annotations

from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import trio

from rocketwire.client import (
    ClientHook,
    ConsumeConcurrentlyContext,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyContext,
    ConsumeOrderlyStatus,
)
from rocketwire.client.consumer.hooked_listeners import hook_concurrent, hook_orderly, hook_pop
from rocketwire.client.hooks import HookChain
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.wire.message.stored import StoredMessage

if TYPE_CHECKING:
    from rocketwire.client.hooks import ConsumeMessageContext

QUEUE = MessageQueue(topic="orders", broker_name="b", queue_id=3)
MESSAGES = [StoredMessage(topic="orders", body=b"x", queue_id=3) for _ in range(3)]
CLIENT: Any = SimpleNamespace()
CALL: ContextVar[str] = ContextVar("CALL", default="none")
FAILURE = ValueError("on purpose")


class Keeping(ClientHook):
    """Keeps the contexts of calls, and sets a context variable for the handler."""

    def __init__(self) -> None:
        self.calls: list[ConsumeMessageContext] = []

    def consume_message_before(self, context: ConsumeMessageContext) -> object:
        self.calls.append(context)
        return CALL.set("hooked")

    def consume_message_after(self, context: ConsumeMessageContext, state: Any) -> None:
        CALL.reset(state)


async def come_to(outcome: object) -> Any:
    assert CALL.get() == "hooked"
    await trio.lowlevel.checkpoint()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


SUCCESS, LATER = ConsumeConcurrentlyStatus


@pytest.mark.parametrize(
    ("outcome", "ack_index", "successes"),
    [
        (SUCCESS, None, 3),
        (None, None, 3),
        (SUCCESS, 0, 1),
        (SUCCESS, -1, 0),
        (SUCCESS, 99, 3),
        (LATER, None, 0),
        (FAILURE, None, 0),
    ],
)
async def test_the_first_messages_of_a_call_count_as_successes(
    outcome: object, ack_index: int | None, successes: int
) -> None:
    async def listener(_: object, context: ConsumeConcurrentlyContext) -> Any:
        context.ack_index = ack_index
        return await come_to(outcome)

    hook = Keeping()
    hooked = hook_concurrent(listener, HookChain([hook]), CLIENT, "g")
    await check(hooked(MESSAGES, ConsumeConcurrentlyContext(message_queue=QUEUE)), hook, outcome)
    assert hook.calls[0].successes == successes
    assert hook.calls[0].messages is MESSAGES


@pytest.mark.parametrize(
    ("outcome", "successes"),
    [
        (None, 3),
        (ConsumeOrderlyStatus.SUCCESS, 3),
        (ConsumeOrderlyStatus.COMMIT, 3),
        (ConsumeOrderlyStatus.ROLLBACK, 0),
        (ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT, 0),
        (FAILURE, 0),
    ],
)
async def test_orderly_messages_succeed_together(outcome: object, successes: int) -> None:
    async def listener(*_: object) -> Any:
        return await come_to(outcome)

    hook = Keeping()
    hooked = hook_orderly(listener, HookChain([hook]), CLIENT, "g")
    await check(hooked(MESSAGES, ConsumeOrderlyContext(message_queue=QUEUE)), hook, outcome)
    assert hook.calls[0].successes == successes


@pytest.mark.parametrize(("outcome", "successes"), [(None, 1), (True, 1), (False, 0), (FAILURE, 0)])
async def test_a_popped_message_succeeds_unless_its_handler_says_false(
    outcome: object, successes: int
) -> None:
    async def listener(_: object) -> Any:
        return await come_to(outcome)

    hook = Keeping()
    hooked = hook_pop(listener, HookChain([hook]), CLIENT, "g", lambda _: "b")
    await check(hooked(MESSAGES[0]), hook, outcome)
    assert hook.calls[0].successes == successes


async def check(call: Any, hook: Keeping, outcome: object) -> None:
    if outcome is FAILURE:
        with pytest.raises(ValueError, match="on purpose"):
            await call
        assert hook.calls[0].exception is FAILURE
    else:
        assert await call is outcome
        assert hook.calls[0].status is outcome
        assert hook.calls[0].exception is None
    assert CALL.get() == "none"
    assert (hook.calls[0].consumer_group, hook.calls[0].message_queue) == ("g", QUEUE)


async def test_hooks_see_that_a_call_is_cancelled() -> None:
    async def listener(_: object) -> None:
        await trio.sleep_forever()

    hook = Keeping()
    with trio.move_on_after(0):
        await hook_pop(listener, HookChain([hook]), CLIENT, "g", lambda _: "b")(MESSAGES[0])
    assert isinstance(hook.calls[0].exception, trio.Cancelled)
