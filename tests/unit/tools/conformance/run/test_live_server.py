"""The suite removes its data from a server that it did not start."""

from rocketwire_tools.conformance.model.placeholders import LOOPBACK
from rocketwire_tools.conformance.run.executor import Traces
from rocketwire_tools.conformance.run.live_server import LiveServer
from rocketwire_tools.conformance.run.target import Address, Target
from tests.peers.processes import free_ports


async def test_entries_that_may_remain_in_a_silent_server_are_reported() -> None:
    server = LiveServer(Target(Address(LOOPBACK, free_ports())), patience=1.0)

    remaining = await server.clean_up(Traces(namespaces={"cases"}))

    assert remaining == ["could not remove KV entries: the server does not respond"]
