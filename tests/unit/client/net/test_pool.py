"""``ChannelPool`` in memory: one channel to an address; retirement does not affect others."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
import trio.testing

from rocketwire import errors, signing
from rocketwire.client import ClientConfig, Credentials, open_pool
from rocketwire.client.net import pool as pools
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.testing import ScriptedPeer, open_network, reply
from rocketwire.wire.command import RemotingCommand
from tests.unit.transport.loopback import closed_port

PEER = "peer:1"
ASK = RemotingCommand(code=Code.GET_MAX_OFFSET)
PULL = RemotingCommand(code=Code.PULL_MESSAGE)
END = RemotingCommand(code=Code.END_TRANSACTION)
KEYS = Credentials("a", "s")


@asynccontextmanager
async def open_pool_and_peer(
    config: ClientConfig | None = None,
) -> AsyncGenerator[tuple[pools.ChannelPool, ScriptedPeer]]:
    async with (
        open_network() as network,
        open_pool(config or ClientConfig(), environment={}, connect=network.connect) as pool,
    ):
        yield pool, network.peer(PEER)


async def never(host: str, port: int) -> trio.abc.Stream:
    await trio.sleep_forever()
    raise AssertionError(f"{host}:{port}")


async def fail_pull(pool: pools.ChannelPool, error: type[Exception], within: float = 30) -> None:
    with pytest.raises(error):
        await pool.request(PEER, PULL, within=within)


async def test_concurrent_requests_share_one_channel() -> None:
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply(code=0))
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(pool.request, PEER, ASK)

        assert peer.connections == 1
        assert pool.addresses == (PEER,)
        assert pool.in_flight == 0


async def test_a_caller_can_be_cancelled_while_connecting(autojump_clock: object) -> None:
    async with open_network() as network:
        network.peer(PEER).on(Code.GET_MAX_OFFSET, reply(code=7))

        async def slowly(host: str, port: int) -> trio.abc.Stream:
            await trio.sleep(1)
            return await network.connect(host, port)

        async with (
            open_pool(ClientConfig(), environment={}, connect=slowly) as pool,
            trio.open_nursery() as nursery,
        ):
            with trio.move_on_after(0.5) as gone:
                await pool.request(PEER, ASK)
            assert (await pool.request(PEER, ASK)).code == 7
            nursery.cancel_scope.cancel()

        assert gone.cancelled_caught
        assert network.peer(PEER).connections == 1


async def test_each_caller_gets_a_connect_error_and_a_later_call_connects() -> None:
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply())
        peer.is_up = False
        failures: list[errors.ConnectFailedError] = []

        async def ask() -> None:
            with pytest.raises(errors.ConnectFailedError) as caught:
                await pool.request(PEER, ASK)
            failures.append(caught.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            nursery.start_soon(ask)
        assert len({id(failure) for failure in failures}) == 2
        peer.is_up = True

        assert (await pool.request(PEER, ASK)).code == 0


async def test_an_error_names_the_address_and_the_one_it_is_mapped_to() -> None:
    config = ClientConfig(address_remap={"10.0.0.1:10911": "nobody:1", "*": PEER})
    async with open_pool_and_peer(config) as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply(code=7))

        assert (await pool.request("10.0.0.2:10911", ASK)).code == 7
        assert pool.addresses == ("10.0.0.2:10911",)
        with pytest.raises(
            errors.ConnectFailedError, match=r"^10.0.0.1:10911, mapped to nobody:1: "
        ):
            await pool.request("10.0.0.1:10911", ASK)


async def test_connecting_takes_no_longer_than_its_limit(autojump_clock: object) -> None:
    async with open_pool(ClientConfig(), environment={}, connect=never) as pool:
        with pytest.raises(errors.ConnectFailedError, match=r"not connected within 3 s"):
            await pool.request(PEER, ASK, within=60)
        with pytest.raises(errors.ConnectFailedError, match=r"not connected within 1 s"):
            await pool.connect(PEER, within=1)
        assert pool.addresses == ()


@pytest.mark.parametrize(
    ("reconnects", "codes", "connections"),
    [
        (True, [ResponseCode.GO_AWAY, 5], 2),
        (True, [ResponseCode.GO_AWAY, ResponseCode.GO_AWAY], 2),
        (False, [ResponseCode.GO_AWAY], 1),
    ],
)
async def test_a_request_answered_go_away_is_sent_once_more_over_a_new_channel(
    reconnects: bool, codes: list[int], connections: int
) -> None:
    async with open_pool_and_peer(ClientConfig(reconnect_for_go_away=reconnects)) as (pool, peer):
        for code in codes:
            peer.expect(Code.GET_MAX_OFFSET, reply(code=code))
        assert (await pool.request(PEER, ASK)).code == codes[-1]
        assert len(peer.requests) == len(codes)
        assert peer.connections == connections


async def test_requests_in_flight_end_on_an_invalidated_channel(autojump_clock: object) -> None:
    async def late(_: RemotingCommand) -> RemotingCommand:
        await trio.sleep(1)
        return reply(code=9)

    codes: list[int] = []
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.PULL_MESSAGE, late)
        peer.on(Code.GET_MAX_OFFSET, reply())

        async def pull() -> None:
            codes.append((await pool.request(PEER, PULL)).code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pull)
            await peer.asked(Code.PULL_MESSAGE)
            pool.invalidate(PEER)
            assert PEER not in pool.addresses
            await pool.request(PEER, ASK)
            assert peer.connections == 2
        await trio.testing.wait_all_tasks_blocked()

        assert codes == [9]
        assert len(peer.channels) == 1


async def test_a_silent_channel_is_dropped_a_slow_one_is_not(autojump_clock: object) -> None:
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.PULL_MESSAGE, None)
        peer.on(Code.GET_MAX_OFFSET, reply())
        with pytest.raises(errors.RequestTimeoutError) as caught:
            await pool.request(PEER, PULL, within=3)
        error = caught.value
        assert (error.address, error.request_code, error.seconds) == (PEER, 11, 3)
        assert PEER not in pool.addresses

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_pull, pool, errors.RequestTimeoutError, 3)
            await trio.sleep(2.5)
            await pool.request(PEER, ASK)
        assert PEER in pool.addresses
        assert pool.in_flight == 0


async def test_a_broken_connection_is_replaced(autojump_clock: object) -> None:
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.PULL_MESSAGE, None)
        peer.on(Code.GET_MAX_OFFSET, reply())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_pull, pool, errors.ChannelBrokenError)
            await peer.asked(Code.PULL_MESSAGE)
            await peer.disconnect()
        await pool.request(PEER, ASK)

        assert peer.connections == 2


async def test_an_idle_channel_is_closed_and_opened_again_on_demand(autojump_clock: object) -> None:
    async with open_pool_and_peer(ClientConfig(channel_idle_timeout=120)) as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply())
        await pool.request(PEER, ASK)
        await trio.sleep(121)
        assert pool.addresses == ()
        await pool.request(PEER, ASK)

        assert peer.connections == 2


async def test_one_way_requests_go_out_and_fail_like_others(autojump_clock: object) -> None:
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.END_TRANSACTION, reply())
        await pool.send_oneway(PEER, END)
        assert (await peer.asked(Code.END_TRANSACTION)).is_oneway
        await peer.go_down()
        with pytest.raises(errors.ConnectFailedError):
            await pool.send_oneway(PEER, END)

    async with open_pool(ClientConfig(), environment={}, connect=never) as pool:
        with pytest.raises(errors.RequestTimeoutError):
            await pool.send_oneway(PEER, END, within=1)


async def test_requests_carry_namespace_zone_and_signature() -> None:
    config = ClientConfig(namespace_v2="space", zone_name="z", credentials=KEYS)
    async with open_pool_and_peer(config) as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply())
        await pool.request(PEER, replace(ASK, ext_fields={"topic": "T"}))
        fields = dict(peer.requests[0].ext_fields or {})

        assert fields.pop("Signature")
        common = {"nsd": "true", "ns": "space", "__ZONE_NAME": "z", "AccessKey": "a"}
        assert fields == {"topic": "T", **common}
        assert signing.verify(peer.requests[0], "s")


async def test_the_peers_requests_are_answered_by_code() -> None:
    async def answer(address: str, request: RemotingCommand) -> RemotingCommand:
        return reply(remark=f"{address} {request.code}")

    heard: list[str] = []
    async with open_pool_and_peer() as (pool, peer):
        pool.handle(307, answer)
        pool.on_connected(heard.append)
        await pool.connect(PEER)

        assert (await peer.request(RemotingCommand(code=307))).remark == "peer:1 307"
        assert (await peer.request(RemotingCommand(code=309))).code == 3
    assert heard == [PEER]


async def test_connect_soon_opens_a_channel_before_the_first_request() -> None:
    async with open_pool_and_peer() as (pool, peer):
        pool.connect_soon(PEER)
        await trio.testing.wait_all_tasks_blocked()
        pool.connect_soon(PEER)
        assert PEER in pool.addresses
        peer.on(Code.GET_MAX_OFFSET, reply())
        await pool.request(PEER, ASK)
        assert peer.connections == 1

        pool.connect_soon("nobody:1")
        await trio.testing.wait_all_tasks_blocked()
        assert pool.addresses == (PEER,)
    pool.connect_soon(PEER)
    assert PEER not in pool.addresses


async def test_invalid_and_too_many_addresses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MAX_CHANNELS", 1)
    async with open_pool_and_peer() as (pool, peer):
        peer.on(Code.GET_MAX_OFFSET, reply())
        with pytest.raises(errors.IllegalAddressError, match="not host:port: 'nowhere'"):
            await pool.request("nowhere", ASK)
        await pool.request(PEER, ASK)
        with pytest.raises(errors.LocalProtocolError, match="1 addresses"):
            await pool.request("other:1", ASK)


async def test_closing_the_pool_fails_pending_and_new_requests(autojump_clock: object) -> None:
    async with open_network() as network, trio.open_nursery() as nursery:
        peer = network.peer(PEER)
        peer.on(Code.PULL_MESSAGE, None)
        async with open_pool(ClientConfig(), environment={}, connect=network.connect) as pool:
            nursery.start_soon(fail_pull, pool, errors.ChannelClosedError)
            await peer.asked(Code.PULL_MESSAGE)
        with pytest.raises(errors.ChannelClosedError):
            await pool.request(PEER, ASK)


async def test_connect_errors_of_real_sockets_name_the_address() -> None:
    port = await closed_port()
    async with open_pool(ClientConfig(), environment={}) as pool:
        reasons = {"127.0.0.1": "Connection refused", "localhost": "", "1.1.1.256": ""}
        for host, why in reasons.items():
            with pytest.raises(errors.ConnectFailedError, match=f"^{host}:{port}: {why}"):
                await pool.request(f"{host}:{port}", ASK)
