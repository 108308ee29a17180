"""Probes a target: is it a name server, and of which version?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.raw_connection import Arrival, RawConnection, connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rocketwire_tools.conformance.run.target import Target

PROBE_SECONDS: Final = 5.0
_CLUSTERS: Final = RemotingCommand(code=106, opaque=77)
# ``GET_BROKER_RUNTIME_INFO``, which only brokers answer.
_BROKER_RUNTIME: Final = RemotingCommand(code=28, opaque=78)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    wrong: str | None  # why no case can be run; None if cases can be run
    version: str = ""  # version in the response, such as ``V5_5_0``; empty without a response


async def probe(target: Target, seconds: float = PROBE_SECONDS) -> ProbeResult:
    """Request the list of clusters; raises ``UnreachableError``."""
    return await examine(target, _examine, seconds)


async def examine(
    target: Target, ask: Callable[[RawConnection, float], Awaitable[ProbeResult]], seconds: float
) -> ProbeResult:
    """Ask over a new connection; raises ``UnreachableError`` if it cannot be opened."""
    try:
        link = await connect("probe", target.address, seconds)
    except OSError as error:
        raise UnreachableError(f"{target.address}: {error}") from error
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.read)
            probed = await ask(link, seconds)
            nursery.cancel_scope.cancel()
    finally:
        await link.close()
    return probed


async def _examine(link: RawConnection, seconds: float) -> ProbeResult:
    arrival = await receive(link, _CLUSTERS, seconds)
    if arrival is None:
        return ProbeResult(f"accepts connections, but does not respond within {seconds:g} s")
    if arrival.kind == "end":
        return ProbeResult(f"accepts connections, but closes them ({arrival.reason})")
    command = arrival.command
    if command is None:
        return ProbeResult(f"responds with an invalid frame ({arrival.reason})")
    if command.opaque != _CLUSTERS.opaque:
        return ProbeResult("responds with an unknown opaque")
    if command.code != 0:
        of_broker = await response(link, _BROKER_RUNTIME, seconds)
        if of_broker is not None and of_broker.code == 0:
            return ProbeResult(
                "is a broker, not a name server; give the address of its name server"
            )
    return ProbeResult(None, version_name(command.version))


async def receive(link: RawConnection, request: RemotingCommand, seconds: float) -> Arrival | None:
    """Send a request and await anything but a request; None for nothing in time."""
    await link.send(encode(request))
    with trio.move_on_after(seconds):
        return await link.next(lambda arrival: arrival.kind != "request")
    return None


async def response(
    link: RawConnection, request: RemotingCommand, seconds: float
) -> RemotingCommand | None:
    """The response to a request; None for anything else, or nothing in time."""
    arrival = await receive(link, request, seconds)
    return None if arrival is None else arrival.command


def version_name(number: int) -> str:
    """The name of a version, such as ``V5_5_0``; its number if it has none."""
    return next((version.name for version in MQVersion if version == number), str(number))
