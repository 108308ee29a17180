"""``replay``: repeats the client's side of a recording and compares the server's responses.

The order of the recording is kept over all connections: before a client's message is sent, the
recorded earlier messages of the server are awaited. Responses are matched by opaque.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.codes import RequestCode
from rocketwire.errors import DecodeError
from rocketwire.wire.command import RemotingCommand, decode
from rocketwire.wire.frame import FrameDecoder
from rocketwire_tools.conformance.compare.diff import Difference, fields_of
from rocketwire_tools.conformance.compare.recording import BYTES, CLIENT, END, FRAME, OPEN, Event
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.raw_connection import Arrival, RawConnection, connect
from rocketwire_tools.conformance.run.verdict import Observation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.run.target import Address

RESPONSE_SECONDS: Final = 5.0
SURPLUS_SECONDS: Final = 0.2
"""Wait for unrecorded messages at the end of a connection, in seconds."""

_CONFIG: Final = 319
_NAMES: Final = Names("replay", 0)


@dataclass(slots=True)
class _ReplayConnection:
    """One connection of the replay.

    Attributes:
        link: the connection.
        request_codes: request codes by opaque.
        lost: whether the server has closed it.
        open_ended: whether the client has sent data since the last awaited response.
    """

    link: RawConnection
    request_codes: dict[int, int] = field(default_factory=dict[int, int])
    lost: bool = False
    open_ended: bool = False


class Replay:
    """One replay.

    Attributes:
        differences: the differences so far.
        compared: number of compared messages of the server.
        stored: data that remains in the server after the replay, one phrase each.
    """

    def __init__(
        self, target: Address, nursery: trio.Nursery, *, patience: float = 1.0, exact: bool = False
    ) -> None:
        """``patience`` is a factor for all timeouts; ``exact`` compares bodies byte for byte."""
        self.differences: list[Difference] = []
        self.compared = 0
        self.stored: dict[str, None] = {}
        self._target = target
        self._nursery = nursery
        self._patience = patience
        self._exact = exact
        self._connections: dict[int, _ReplayConnection] = {}

    async def run(self, events: Sequence[Event]) -> None:
        """Replay a recording.

        Raises:
            UnreachableError: a connection was not opened.
        """
        for line, event in enumerate(events, 1):
            if event.what == OPEN:
                await self._open(event.connection)
            elif event.connection in self._connections:
                await self._replay_event(line, event, self._connections[event.connection])
        for number in list(self._connections):
            await self._close(number)

    async def _open(self, number: int) -> None:
        try:
            link = await connect(str(number), self._target, RESPONSE_SECONDS * self._patience)
        except OSError as error:
            raise UnreachableError(f"{self._target}: {error}") from error
        self._nursery.start_soon(link.read)
        self._connections[number] = _ReplayConnection(link)

    async def _replay_event(self, line: int, event: Event, replayed: _ReplayConnection) -> None:
        if event.side != CLIENT:
            if not replayed.lost and not _is_beginning(event):
                await self._compare(line, event, replayed)
        elif event.what == END:
            await self._close(event.connection)
        else:
            command = _command(event)
            if command is not None and not command.is_response:
                replayed.request_codes[command.opaque] = command.code
                self._note_effect(command)
            replayed.open_ended = True
            with trio.move_on_after(RESPONSE_SECONDS * self._patience):
                await replayed.link.send(event.data)

    def _note_effect(self, command: RemotingCommand) -> None:
        """Record data that remains in the server; brokers are removed with their connections."""
        fields = command.ext_fields or {}
        entry = f"KV entry {fields.get('key')!r} of namespace {fields.get('namespace')!r}"
        topic = f"topic {fields.get('topic')!r}"
        if command.code == RequestCode.PUT_KV_CONFIG:
            self.stored[entry] = None
        elif command.code == RequestCode.DELETE_KV_CONFIG:
            self.stored.pop(entry, None)
        elif command.code == RequestCode.REGISTER_TOPIC_IN_NAMESRV:
            self.stored[topic] = None
        elif command.code == RequestCode.DELETE_TOPIC_IN_NAMESRV:
            self.stored.pop(topic, None)
        elif command.code == RequestCode.UPDATE_NAMESRV_CONFIG:
            self.stored["a change of the configuration"] = None

    async def _compare(self, line: int, event: Event, replayed: _ReplayConnection) -> None:
        """Await the response that corresponds to a recorded one, and compare."""
        recorded = _arrival_of(event)
        arrival = None
        with trio.move_on_after(RESPONSE_SECONDS * self._patience):
            arrival = await replayed.link.next(
                lambda candidate: candidate.kind == "end" or _fits(candidate, recorded)
            )
        self.compared += 1
        replayed.open_ended = False
        replayed.lost = arrival is not None and arrival.kind == "end"
        code = (
            replayed.request_codes.get(recorded.command.opaque)
            if recorded.command is not None
            else None
        )
        what = f"{recorded.kind} to {code}" if code is not None else recorded.kind
        self._record_differences(event.connection, f"line {line}, {what}", recorded, arrival, code)

    async def _close(self, number: int) -> None:
        """Close a connection and report unrecorded messages."""
        replayed = self._connections.pop(number)
        if replayed.open_ended and not replayed.lost:
            await trio.sleep(SURPLUS_SECONDS * self._patience)
        for arrival in replayed.link.arrivals:
            if arrival.kind != "end":
                self._record_differences(number, "surplus", None, arrival, None)
        if replayed.link.ended and not replayed.lost:
            self._record_differences(number, "at the end", None, Arrival("end"), None)
        await replayed.link.close()

    def _record_differences(
        self,
        number: int,
        step: str,
        first: Arrival | None,
        second: Arrival | None,
        code: int | None,
    ) -> None:
        settled = code if code == _CONFIG else None
        pairs = fields_of(
            Observation(step=step, arrival=first, exact=self._exact, request_code=settled),
            Observation(step=step, arrival=second, exact=self._exact, request_code=settled),
            _NAMES,
        )
        self.differences += [
            Difference(f"connection/{number}", step, name, *pair)
            for name, pair in pairs.items()
            if pair[0] != pair[1]
        ]


def _command(event: Event) -> RemotingCommand | None:
    """The command of a frame; None if it is invalid."""
    if event.what != FRAME:
        return None
    try:
        return decode(event.data)
    except DecodeError:
        return None


def _is_beginning(event: Event) -> bool:
    """Whether an event is an incomplete frame, which a client does not notice."""
    if event.what != BYTES:
        return False
    decoder = FrameDecoder()
    decoder.feed(event.data)
    try:
        return decoder.next_frame() is None
    except DecodeError:
        return False


def _arrival_of(event: Event) -> Arrival:
    """The arrival of a recorded event of the server."""
    if event.what == END:
        return Arrival("end")
    command = _command(event)
    if command is None:
        return Arrival("rubbish", event.data)
    return Arrival("response" if command.is_response else "request", event.data, command)


def _fits(arrival: Arrival, recorded: Arrival) -> bool:
    """Whether an arrival corresponds to the recorded one: same opaque, or else same kind."""
    if arrival.kind != recorded.kind:
        return False
    if arrival.kind != "response" or arrival.command is None or recorded.command is None:
        return True
    return arrival.command.opaque == recorded.command.opaque


async def replay(
    events: Sequence[Event], target: Address, *, patience: float = 1.0, exact: bool = False
) -> Replay:
    """Replay a recording to a server and return the result.

    Raises:
        UnreachableError: a connection was not opened.
    """
    # The nursery would wrap the error in a group.
    unreachable: UnreachableError | None = None
    async with trio.open_nursery() as nursery:
        result = Replay(target, nursery, patience=patience, exact=exact)
        try:
            await result.run(events)
        except UnreachableError as error:
            unreachable = error
        nursery.cancel_scope.cancel()
    if unreachable is not None:
        raise unreachable
    return result
