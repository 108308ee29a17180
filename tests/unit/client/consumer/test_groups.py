"""Heartbeats of a group and messages to its retry topic, as those of Java's consumers."""

from typing import Any

import pytest

from rocketwire.client.consumer.retry import send_to_retry_topic
from rocketwire.codes import RequestCode as Code
from rocketwire.messages.send import SendMessageResponseHeader
from rocketwire.testing import reply
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage
from tests.support.fakes.consumer_fakes import BROKER, consumer, world


async def test_a_message_to_the_retry_topic_has_the_number_of_attempts() -> None:
    properties = {"UNIQ_KEY": "ID", "TRAN_MSG": "true"}
    failed = StoredMessage(topic="orders", body=b"x", properties=properties, reconsume_times=2)
    async with world(namespace="ns") as (network, client):
        broker = network.peer(BROKER)
        header = SendMessageResponseHeader(msg_id="0" * 32, queue_id=0, queue_offset=1)
        broker.on(Code.SEND_MESSAGE_V2, reply(header))
        await send_to_retry_topic(client, "g", failed, 16)
        sent = await broker.asked(Code.SEND_MESSAGE_V2)
    assert decode_properties((sent.ext_fields or {})["i"]) == {
        "UNIQ_KEY": "ID",
        "ORIGIN_MESSAGE_ID": "ID",
        "RETRY_TOPIC": "orders",
        "RECONSUME_TIME": "3",
        "MAX_RECONSUME_TIMES": "16",
        "INSTANCE_ID": "ns",
        "DELAY": "5",
    }


@pytest.mark.parametrize("flavour", ["push", "pop", "lite pull"])
async def test_a_group_belongs_to_the_unit_of_its_client(flavour: str) -> None:
    async with world(unit_mode=True) as (_, client), consumer(flavour, client) as opened:
        member: Any = opened
        assert member.heartbeat().unit_mode
