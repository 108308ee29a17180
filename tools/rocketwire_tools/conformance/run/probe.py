"""The first question to a target: whether it is a name server at all, and of which version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.raw_connection import connect

if TYPE_CHECKING:
    from rocketwire_tools.conformance.run.raw_connection import Arrival, Link
    from rocketwire_tools.conformance.run.target import Target

PROBE_SECONDS: Final = 5.0
_CLUSTERS: Final = RemotingCommand(code=106, opaque=77)
_BROKER_RUNTIME: Final = RemotingCommand(code=28, opaque=78)
"""``GET_BROKER_RUNTIME_INFO``, which brokers answer and name servers do not."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What the first question came to.

    Attributes:
        wrong: why no case can be carried out; None if they can.
        version: the protocol version in the answer, as ``V5_5_0``; empty if there was no answer.
    """

    wrong: str | None
    version: str = ""


async def probe(target: Target, seconds: float = PROBE_SECONDS) -> Probed:
    """Ask for the cluster list.

    Raises:
        UnreachableError: nothing takes the connection.
    """
    address = target.address
    link = None
    try:
        with trio.move_on_after(seconds):
            link = await connect("probe", address.host, address.port)
    except OSError as error:
        raise UnreachableError(f"{address}: {error}") from error
    if link is None:
        raise UnreachableError(f"{address}: no connection within {seconds:g} s")
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.read)
            probed = await _judged(link, seconds)
            nursery.cancel_scope.cancel()
    finally:
        await link.close()
    return probed


async def _judged(link: Link, seconds: float) -> Probed:
    arrival = await _answer(link, _CLUSTERS, seconds)
    if arrival is None:
        return Probed(f"takes connections, but answers nothing within {seconds:g} s")
    if arrival.kind == "end":
        return Probed(f"takes connections, but ends them ({arrival.reason})")
    command = arrival.command
    if command is None:
        return Probed(f"answers what is no frame ({arrival.reason})")
    if command.opaque != _CLUSTERS.opaque:
        return Probed("answers with a number that was not asked")
    if command.code != 0:
        arrival_of_broker = await _answer(link, _BROKER_RUNTIME, seconds)
        if (
            arrival_of_broker is not None
            and arrival_of_broker.command is not None
            and arrival_of_broker.command.code == 0
        ):
            return Probed("is a broker, not a name server; give the address of its name server")
    return Probed(None, version_name(command.version))


async def _answer(link: Link, request: RemotingCommand, seconds: float) -> Arrival | None:
    await link.send(encode(request))
    with trio.move_on_after(seconds):
        return await link.next(lambda arrival: arrival.kind != "request")
    return None


def version_name(number: int) -> str:
    """The name of a protocol version, as ``V5_5_0``; its number if it has none."""
    return next((version.name for version in MQVersion if version == number), str(number))
