"""Requests to one broker: their number, their failures, and when a broker is given up."""

import pytest
import trio

from rocketwire.codes import ResponseCode
from rocketwire.errors import ConnectFailedError, DecodeError, RequestTimeoutError, RocketWireError
from rocketwire_tools.exporter.scrape import (
    MAX_CHANNEL_ERRORS,
    BrokerGoneError,
    BrokerScrape,
    error_name,
)
from tests.support.fakes.exported_cluster import ADDRESS, ExportedCluster, refusal


def connect_error() -> ConnectFailedError:
    return ConnectFailedError(f"{ADDRESS}: refused")


async def test_an_error_leaves_a_part_incomplete() -> None:
    scrape = ExportedCluster().scrape()

    async def fail(_: BrokerScrape) -> None:
        raise refusal(ResponseCode.NO_PERMISSION)

    async def succeed(_: BrokerScrape) -> None:
        await trio.lowlevel.checkpoint()

    await scrape.run("groups", fail)
    await scrape.run("topics", succeed)

    assert list(scrape.incomplete) == ["groups"]
    assert scrape.failures == {("groups", "NO_PERMISSION"): 1}


async def test_a_broker_that_does_not_answer_is_given_up() -> None:
    scrape = ExportedCluster().scrape()
    calls = 0

    async def request() -> None:
        nonlocal calls
        calls += 1
        raise connect_error()

    async def part(scrape: BrokerScrape) -> None:
        async def ask(_: int) -> None:
            await scrape.ask(request)

        await scrape.call_each("topics", range(100), ask)

    await scrape.run("topics", part)

    assert MAX_CHANNEL_ERRORS <= calls <= MAX_CHANNEL_ERRORS + 1
    assert scrape.failures == {("topics", "connection"): calls}
    with pytest.raises(BrokerGoneError):
        await scrape.ask(request)


async def test_the_failure_of_one_item_does_not_end_the_others() -> None:
    scrape = ExportedCluster().scrape()
    failures = {1: ResponseCode.SYSTEM_BUSY, 2: ResponseCode.TOPIC_NOT_EXIST}
    numbers: list[int] = []

    async def ask(number: int) -> None:
        if number in failures:
            raise refusal(failures[number])
        numbers.append(number)

    await scrape.call_each("topics", range(4), ask)

    assert numbers == [0, 3]
    assert scrape.failures == {("topics", "SYSTEM_BUSY"): 1}


async def test_requests_at_once_are_bounded() -> None:
    scrape = ExportedCluster().scrape(concurrent=3)
    running = highest = 0

    async def request() -> None:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await trio.lowlevel.checkpoint()
        running -= 1

    async def ask(_: int) -> None:
        await scrape.ask(request)

    await scrape.call_each("topics", range(10), ask)

    assert (highest, scrape.requests) == (3, 10)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (refusal(ResponseCode.SYSTEM_BUSY), "SYSTEM_BUSY"),
        (refusal(ResponseCode.SYSTEM_ERROR, "AclException: no"), "NO_PERMISSION"),
        (refusal(123_456), "unlisted code"),
        (RequestTimeoutError(ADDRESS, 28, 1.0), "timeout"),
        (connect_error(), "connection"),
        (DecodeError("no number"), "invalid response"),
    ],
)
def test_errors_have_few_names(error: RocketWireError, name: str) -> None:
    assert error_name(error) == name
