"""Unusable functions are rejected when they are passed, or end the consumer at their call."""

# Arguments are invalid on purpose.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from itertools import product
from types import coroutine
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest
import trio

from rocketwire import aio, sync
from rocketwire.client import (
    BrokerIdentity,
    ClientConfig,
    LocalTransactionState,
    Message,
    open_pool,
    open_pop_consumer,
    open_producer,
    open_push_consumer,
    open_registration,
)
from rocketwire.client.handlers import async_handler, check_callable, sync_function
from rocketwire.client.producer.transactions import resolve_state
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import IllegalHandlerError, LocalProtocolError
from rocketwire.testing import open_network
from tests.support.fakes import producer_fakes
from tests.support.fakes.consumer_fakes import BROKER, bring_messages, make_messages, world

NAMES = "messages, context"


async def good(messages: object, context: object) -> str:
    await trio.lowlevel.checkpoint()
    return f"{messages}{context}"


def bad(messages: object, context: object) -> None:
    del messages, context


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: object) -> Any:
        return function(*arguments)

    return wrapper


class Handlers:
    async def method(self, messages: object, context: object) -> str:
        return await good(messages, context)

    def sync_method(self, messages: object, context: object) -> None:
        del messages, context

    async def __call__(self, messages: object, context: object) -> str:
        return await good(messages, context)


class SyncCall:
    def __call__(self, messages: object, context: object) -> None:
        del messages, context


class PartialCall:
    __call__ = staticmethod(functools.partial(good))


class Waiting:
    """Instances can be awaited."""

    def __init__(self, messages: object, context: object) -> None:
        self.text = f"{messages}{context}"

    def __await__(self) -> Generator[Any, Any, str]:
        yield from cast("Any", good(1, 2)).__await__()
        return self.text


@coroutine
def old(messages: object, context: object) -> Generator[Any, Any, Any]:
    return (yield from cast("Any", good(messages, context)))


@functools.singledispatch
async def dispatch(messages: object, context: object) -> str:
    return await good(messages, context)


def returns_awaitable(messages: object, context: object) -> Awaitable[str]:
    return good(messages, context)


async def generating(messages: object, context: object) -> AsyncGenerator[object]:
    yield messages, context


def sync_generating(messages: object, context: object) -> Generator[object]:
    yield messages, context


@pytest.mark.parametrize(
    "handler",
    [
        *(good, functools.partial(good), functools.partial(functools.partial(good, context="b"))),
        *(Handlers(), Handlers().method, staticmethod(good), PartialCall(), decorate(good)),
        *(dispatch, returns_awaitable, lambda messages, context: good(messages, context), Waiting),
        *(old, AsyncMock(return_value="ab")),
    ],
)
async def test_awaitable_handlers_are_accepted(handler: Any) -> None:
    names = "messages" if isinstance(handler, functools.partial) and handler.keywords else NAMES
    usable = async_handler("listener", handler, names)
    result = await usable(*"ab"[: names.count(",") + 1])
    assert result in ("ab", None)


@pytest.mark.parametrize("handler", [good, functools.partial(good), Handlers(), Handlers().method])
def test_a_coroutine_function_is_called_directly(handler: Any) -> None:
    assert async_handler("listener", handler, NAMES) is handler


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (bad, "not async, so that it cannot be awaited; write async def handle(messages, context)"),
        *((functools.partial(bad), "not async"), (Handlers().sync_method, "not async")),
        *((staticmethod(bad), "not async"), (SyncCall(), "not async")),
        *((decorate(bad), "not async"), (generating, "async generator function")),
        (sync_generating, "is a generator function"),
        (Handlers, "is called with (messages, context)"),
        (dict, "is a class whose instances cannot be awaited"),
        (None, "expected a function of (messages, context), got None"),
        *(("handle", "got 'handle' (str)"), (classmethod(good), "expected a function")),
        (lambda messages: good(messages, None), "too many positional arguments"),
        (functools.partial(good, 1, 2), "too many positional arguments"),
    ],
)  # fmt: skip
def test_handlers_that_cannot_be_awaited_are_refused_in_one_line(handler: Any, text: str) -> None:
    with pytest.raises(IllegalHandlerError) as caught:
        async_handler("listener", handler, NAMES)
    assert text in str(caught.value)
    assert str(caught.value).startswith("listener: ")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_a_coroutine_in_the_place_of_its_function_is_refused_and_closed() -> None:
    with pytest.raises(IllegalHandlerError, match=r"good\(\) is a coroutine; pass the function"):
        async_handler("listener", cast("Any", good(1, 2)), NAMES)


def test_a_function_in_c_is_checked_when_it_returns() -> None:
    check_callable("f", min, "a, b")
    assert async_handler("f", cast("Any", min), "a, b") is not min


def test_a_function_that_is_not_awaited_must_not_be_async() -> None:
    assert sync_function("choose", len, "queues") is len
    with pytest.raises(IllegalHandlerError, match=r"choose: .* is not awaited; write def f"):
        sync_function("choose", good, NAMES)


async def test_a_result_that_cannot_be_awaited_is_a_typed_error() -> None:
    handler = async_handler("listener", cast("Any", lambda messages, context: len(messages)), NAMES)
    with pytest.raises(
        IllegalHandlerError, match="returned 2, which cannot be awaited; write async"
    ):
        await handler([1, 2], None)


# ---------------------------------------------------------------------- consumers


OPENERS: dict[str, Callable[[Any, Any], Any]] = {
    "listener": lambda client, handler: open_push_consumer(client, "g", {"orders": "*"}, handler),
    "orderly_listener": lambda client, handler: open_push_consumer(
        client, "g", {"orders": "*"}, orderly_listener=handler
    ),
    "pop": lambda client, handler: open_pop_consumer(client, "g", {"orders": "*"}, handler),
}
UNUSABLE = (bad, 5, SyncCall(), generating, dict, lambda first, second, third: first)


@pytest.mark.parametrize(("opener", "handler"), [*product(OPENERS, UNUSABLE), ("pop", None)])
async def test_a_consumer_is_not_opened_with_an_unusable_handler(opener: str, handler: Any) -> None:
    name = "orderly_listener" if opener == "orderly_listener" else "listener"
    async with world() as (network, client):
        with pytest.raises(IllegalHandlerError, match=rf"^handler \({name}\): "):
            async with OPENERS[opener](client, handler):
                pass
        assert network.peer(BROKER).codes() == []


async def test_two_handlers_or_an_ambiguous_order_are_refused() -> None:
    """With ``orderly`` a handler of any order would never be called."""
    arguments = ("a:1", "g", {"orders": "*"})
    trio_open: Any = open_push_consumer
    openers: Any = ((sync.open_push_consumer, bad), (aio.open_push_consumer, good))
    for extra in ({"orderly": True}, {"orderly_listener": good}):
        with pytest.raises(LocalProtocolError, match="give one handler: "):
            async with trio_open(*arguments, good, **extra):
                pass
        for open_consumer, handler in openers:
            with pytest.raises(LocalProtocolError, match="give one handler: "):
                open_consumer(*arguments, handler, **extra)


@pytest.mark.parametrize("opener", OPENERS)
async def test_a_handler_without_await_is_fatal(opener: str, autojump_clock: object) -> None:
    calls: list[object] = []
    handler: Any = lambda *arguments: calls.append(arguments)  # noqa: E731 - a lambda is the case
    async with world() as (network, client):
        bring_messages(network, make_messages())
        with pytest.raises(IllegalHandlerError, match="returned None, which cannot be awaited"):
            async with OPENERS[opener](client, handler):
                await trio.sleep(60)
        assert len(calls) == 1
        assert Code.CONSUMER_SEND_MSG_BACK not in network.peer(BROKER).codes()
        assert client.consumers == {}


# ---------------------------------------------------------------------- producers, brokers


async def test_functions_of_a_producer_are_checked_when_they_are_given() -> None:
    async with producer_fakes.world() as it:
        message = Message("T", b"x")
        for call in (
            lambda: it.producer.send_by(message, cast("Any", good)),
            lambda: it.producer.send_by(message, cast("Any", None)),
            lambda: it.producer.send_in_transaction(message, cast("Any", None)),
            lambda: it.producer.send_in_transaction(message, cast("Any", lambda: None)),
        ):
            with pytest.raises(IllegalHandlerError):
                await call()
        assert it.sent() == []
        for check in (5, lambda: LocalTransactionState.UNKNOW):
            with pytest.raises(IllegalHandlerError, match=r"^check: "):
                async with open_producer(it.client, "other", check=cast("Any", check)):
                    pass


async def test_an_outcome_of_a_transaction_that_is_none_is_a_typed_error() -> None:
    assert await resolve_state(None) is LocalTransactionState.UNKNOW
    with pytest.raises(IllegalHandlerError, match="returned True"):
        await resolve_state(cast("Any", True))


async def test_handlers_of_brokers_and_pools_are_checked_when_registered() -> None:
    identity = BrokerIdentity(cluster_name="c", broker_name="b", broker_addr=BROKER)
    config = ClientConfig(namesrv_addr=[])
    async with (
        open_network() as network,
        open_pool(config, connect=network.connect) as pool,
        open_registration(identity, (), config, connect=network.connect) as broker,
    ):
        for register in (
            lambda: broker.handle(1, cast("Any", bad)),
            lambda: broker.on_min_broker_change(cast("Any", good)),
            lambda: pool.handle(1, cast("Any", bad)),
            lambda: pool.on_connected(cast("Any", good)),
        ):
            with pytest.raises(IllegalHandlerError):
                cast("Any", register)()
