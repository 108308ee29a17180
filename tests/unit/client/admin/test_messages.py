"""Requests for messages."""

from rocketwire.client.admin import Admin
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.testing import reply
from tests.support.fakes.consumer_fakes import BROKER, pull_response, world


async def test_a_message_is_found_by_id_and_pulled_without_a_byte_limit() -> None:
    queue = MessageQueue(topic="orders", broker_name="b", queue_id=0)
    async with world() as (network, client):
        broker = network.peer(BROKER)
        broker.on(Code.QUERY_MESSAGE, reply(code=ResponseCode.QUERY_NOT_FOUND))
        broker.on(Code.PULL_MESSAGE, pull_response())
        messages = Admin(client).messages
        assert await messages.by_unique_key("orders", "ID") == ()
        assert await messages.at(queue, 0) is None

    fields = {request.code: request.ext_fields or {} for request in broker.requests}
    assert fields[Code.QUERY_MESSAGE]["indexType"] == "U"
    assert fields[Code.PULL_MESSAGE]["maxMsgBytes"] == "2147483647"
