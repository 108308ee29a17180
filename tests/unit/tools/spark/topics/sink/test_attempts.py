"""Attempts of a request."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import BrokerError, RequestTimeoutError
from rocketwire_tools.spark.topics.sink.attempts import producer_config, with_retries
from rocketwire_tools.spark.topics.sink.failures import SinkError
from rocketwire_tools.spark.topics.sink.options import read_sink_options


class Attempts:
    """A request that fails some times."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(trio.current_time())
        if self.errors:
            raise self.errors.pop(0)
        return "result"


def busy() -> BrokerError:
    return BrokerError(2, "busy", RequestCode.SEND_MESSAGE_V2, "b:1")


async def test_a_request_is_repeated_until_it_succeeds(autojump_clock: Any) -> None:
    request = Attempts(busy(), RequestTimeoutError("b:1", 310, 3.0))

    assert await with_retries(request, "a", 60) == "result"
    assert len(request.times) == 3


async def test_pauses_double_up_to_five_seconds(autojump_clock: Any) -> None:
    request = Attempts(*(busy() for _ in range(9)))
    await with_retries(request, "a", 60)
    pauses = [b - a for a, b in zip(request.times, request.times[1:], strict=False)]

    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5])


async def test_a_request_is_given_up_when_the_time_is_over(autojump_clock: Any) -> None:
    with pytest.raises(SinkError, match="after 3 seconds of retries: check the broker's load"):
        await with_retries(Attempts(*(busy() for _ in range(9))), "a", 5)


async def test_an_error_that_stays_ends_the_attempts(autojump_clock: Any) -> None:
    request = Attempts(BrokerError(13, "long", RequestCode.SEND_MESSAGE_V2, "b:1"))
    with pytest.raises(SinkError, match="shorten the rows"):
        await with_retries(request, "a", 60)

    assert len(request.times) == 1


def test_bodies_are_compressed_only_above_the_option() -> None:
    servers = {"nameServers": "a:1"}
    plain = producer_config(read_sink_options(servers))
    compressing = producer_config(read_sink_options({**servers, "compressAbove": "4k"}))

    assert plain.compress_msg_body_over_howmuch > 64 << 20
    assert compressing.compress_msg_body_over_howmuch == 4097
