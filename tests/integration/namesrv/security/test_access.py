"""Lists of addresses on both drivers: through a load balancer the address of the client counts."""

import pytest
import trio

from rocketwire.codes import RequestCode, ResponseCode
from tests.support.running_server import Client, registration, request, running, settings

pytestmark = pytest.mark.usefixtures("driver_name")

ROUTE = request(RequestCode.GET_ROUTEINFO_BY_TOPIC, topic="TA")
PUT = request(RequestCode.PUT_KV_CONFIG, namespace="n", key="k", value="v")
PROXY = b"PROXY TCP4 10.0.0.5 5.6.7.8 99 9876\r\n"
NO = ResponseCode.NO_PERMISSION
NO_TOPIC = ResponseCode.TOPIC_NOT_EXIST


@pytest.mark.parametrize(
    ("opening", "expected"), [(b"", [NO, NO, NO, 0]), (PROXY, [NO, NO_TOPIC, NO_TOPIC, 0])]
)
async def test_lists_are_compared_with_the_clients_own_address(
    opening: bytes, expected: list[int]
) -> None:
    codes: list[int] = []
    config = settings(read_addresses="10.0.0.0/8", broker_addresses="none")
    async with running(config) as site:
        for data in (registration(), ROUTE, ROUTE, PUT):
            async with await trio.open_tcp_stream(*site.server.listening) as stream:
                client = Client(stream)
                await client.send(opening)
                codes.append((await client.ask(data)).code)

    assert codes == expected
