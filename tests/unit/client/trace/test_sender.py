"""``TraceSender``: a producer group of its own, and the checks of any message."""

from __future__ import annotations

import pytest

from rocketwire.client.message import Message
from rocketwire.client.trace.sender import TraceSender
from rocketwire.codes import RequestCode as Code
from rocketwire.errors import IllegalMessageError, IllegalNameError
from tests.support.fakes.producer_fakes import world


async def test_a_trace_message_is_sent_by_the_internal_group_of_the_traced_one() -> None:
    async with world(brokers=("a",), client={"namespace": "n"}) as it:
        await TraceSender(it.producer.instance, "n%pg-PRODUCE").send(Message("T", b"record"))

    sent = [request for request in it.a.requests if request.code == Code.SEND_MESSAGE_V2]
    assert [request.body for request in sent] == [b"record"]
    fields = sent[0].ext_fields or {}
    assert fields["a"] == "_INNER_TRACE_PRODUCER-n%pg-PRODUCE"
    assert fields["b"] == "T"  # Java: test_same_requests.py, namespace+tracetopic
    assert "INSTANCE_ID" not in fields["i"]


async def test_an_empty_trace_message_and_a_group_that_is_too_long_are_errors() -> None:
    async with world(brokers=("a",)) as it:
        sender = TraceSender(it.producer.instance, "pg-PRODUCE")
        with pytest.raises(IllegalMessageError):
            await sender.send(Message("T", b""))
        with pytest.raises(IllegalNameError):
            TraceSender(it.producer.instance, "x" * 255)
