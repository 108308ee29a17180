"""``rocketwire.testing``: a script is executed, and other requests fail the test."""

import pytest
import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import ChannelBrokenError, ConnectFailedError, LocalProtocolError
from rocketwire.messages.offsets import GetMaxOffsetResponseHeader
from rocketwire.messages.route import TopicList
from rocketwire.testing import MemoryNetwork, memory_channel_pair, open_network, reply
from rocketwire.transport.channel import open_channel_over
from rocketwire.wire.command import RemotingCommand

ASK = RemotingCommand(code=RequestCode.GET_MAX_OFFSET)


async def ask(network: MemoryNetwork, command: RemotingCommand = ASK) -> RemotingCommand:
    async with open_channel_over(await network.connect("peer", 1), peer="peer:1") as channel:
        return await channel.request(command)


async def test_channels_of_a_pair_answer_each_other() -> None:
    async def answer_one(_: RemotingCommand) -> RemotingCommand:
        return reply(code=1)

    async def answer_two(_: RemotingCommand) -> RemotingCommand:
        return reply(code=2)

    async with memory_channel_pair(handler=answer_one, peer_handler=answer_two) as (first, second):
        codes = ((await first.request(ASK)).code, (await second.request(ASK)).code)

    assert codes == (2, 1)


async def test_expected_requests_are_answered_in_their_order() -> None:
    async with open_network() as network:
        peer = network.peer("peer:1")
        peer.on(RequestCode.HEART_BEAT, reply())
        peer.expect(ASK.code, reply(GetMaxOffsetResponseHeader(offset=7)))
        peer.expect(ASK.code, reply(code=1, remark="no more"))

        first = await ask(network)
        await ask(network, RemotingCommand(code=RequestCode.HEART_BEAT))
        second = await ask(network)

    assert first.ext_fields == {"offset": "7"}
    assert (second.code, second.remark) == (1, "no more")
    assert peer.codes() == [30, 34, 30]
    assert peer.connections == 3


async def test_responses_can_be_computed_by_functions() -> None:
    async def slowly(request: RemotingCommand) -> RemotingCommand:
        await trio.lowlevel.checkpoint()
        return reply(body=request.body)

    async with open_network() as network:
        network.peer("peer:1").expect(30, slowly)
        network.peer("peer:1").expect(
            30, lambda request: reply(ext_fields={"was": str(request.code)})
        )

        assert (await ask(network, RemotingCommand(code=30, body=b"echo"))).body == b"echo"
        assert (await ask(network)).ext_fields == {"was": "30"}


async def test_unexpected_and_missing_requests_fail_at_the_end() -> None:
    async def run_script() -> None:
        async with open_network() as network:
            network.peer("peer:1").expect(RequestCode.HEART_BEAT, reply())
            assert (await ask(network)).code == 3

    with pytest.raises(AssertionError) as caught:
        await run_script()

    assert str(caught.value).splitlines() == [
        "peer:1: unexpected request RequestCode.GET_MAX_OFFSET",
        "peer:1: request RequestCode.HEART_BEAT was not received",
    ]


async def test_a_peer_sends_requests_over_its_last_connection() -> None:
    async def answer(request: RemotingCommand) -> RemotingCommand | None:
        codes.append(request.code)
        return None if request.is_oneway else reply(code=5)

    codes: list[int] = []
    async with open_network() as network:
        peer = network.peer("peer:1")
        with pytest.raises(LocalProtocolError):
            await peer.request(ASK)
        async with open_channel_over(await network.connect("peer", 1), handler=answer):
            await peer.send_oneway(RemotingCommand(code=40))
            assert (await peer.request(RemotingCommand(code=307))).code == 5

    assert codes == [40, 307]


async def test_a_peer_can_go_down(autojump_clock: trio.abc.Clock) -> None:
    async with open_network() as network, trio.open_nursery() as nursery:
        peer = network.peer("peer:1")
        peer.on(30, None)
        with pytest.raises(ConnectFailedError):
            await network.connect("nobody", 1)

        async def fail_request() -> None:
            with pytest.raises(ChannelBrokenError):
                await ask(network)

        nursery.start_soon(fail_request)
        assert (await peer.asked(30)).code == 30
        await peer.go_down()
        with pytest.raises(ConnectFailedError):
            await network.connect("peer", 1)


async def test_a_reply_is_encoded_by_the_classes_of_header_and_body() -> None:
    answer = reply(
        GetMaxOffsetResponseHeader(offset=1),
        TopicList(topic_list=("a",)),
        ext_fields={"x": "y"},
        version=401,
    )

    assert answer.ext_fields == {"offset": "1", "x": "y"}
    assert answer.body == b'{"topicList":["a"]}'
    assert answer.version == 401
    assert reply().ext_fields is None
