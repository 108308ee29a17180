"""``replay``: the client's side of a recording once more, and every difference in what the server says to it.

Everything happens in the order of the recording, over all connections: what the server had said before a client's message is
awaited before that message is sent.  Answers are found by their numbers.
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
from rocketwire_tools.conformance.compare.recording import BYTES, CLIENT, END, FRAME, OPEN
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.raw_connection import Arrival, Link, connect
from rocketwire_tools.conformance.run.verdict import Observation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.compare.recording import Event
    from rocketwire_tools.conformance.run.target import Address

ANSWER_SECONDS: Final = 5.0
SURPLUS_SECONDS: Final = 0.2
"""How long, at the end of a connection, something may come that the recording does not have."""

_CONFIG: Final = 319
_NAMES: Final = Names("replay", 0)


@dataclass(slots=True)
class _Talk:
    """One connection of the replay.

    Attributes:
        link: the connection.
        asked: the request codes of the numbers that the client has used.
        lost: whether the server has ended it.
        open_ended: whether the client has said something since the server was last awaited.
    """

    link: Link
    asked: dict[int, int] = field(default_factory=dict[int, int])
    lost: bool = False
    open_ended: bool = False


class Replay:
    """One replay.

    Attributes:
        differences: what was found so far.
        compared: how many things that the server said were looked at.
        stored: requests that were sent and whose effect stays after the end of their connections, one sentence each.
    """

    def __init__(
        self, target: Address, nursery: trio.Nursery, *, patience: float = 1.0, exact: bool = False
    ) -> None:
        """A replay that has not begun.

        Args:
            target: the server.
            nursery: for the tasks that receive.
            patience: factor for all deadlines.
            exact: whether bodies are compared byte for byte.
        """
        self.differences: list[Difference] = []
        self.compared = 0
        self.stored: dict[str, None] = {}
        self._target = target
        self._nursery = nursery
        self._patience = patience
        self._exact = exact
        self._talks: dict[int, _Talk] = {}

    async def run(self, events: Sequence[Event]) -> None:
        """Play a recording.

        Raises:
            UnreachableError: a connection was not opened.
        """
        for line, event in enumerate(events, 1):
            if event.what == OPEN:
                await self._open(event.connection)
            elif event.connection in self._talks:
                await self._one(line, event, self._talks[event.connection])
        for number in list(self._talks):
            await self._close(number)

    async def _open(self, number: int) -> None:
        link = None
        try:
            with trio.move_on_after(ANSWER_SECONDS * self._patience):
                link = await connect(str(number), self._target.host, self._target.port)
        except OSError as error:
            raise UnreachableError(f"{self._target}: {error}") from error
        if link is None:
            raise UnreachableError(f"{self._target}: no connection in time")
        self._nursery.start_soon(link.read)
        self._talks[number] = _Talk(link)

    async def _one(self, line: int, event: Event, talk: _Talk) -> None:
        if event.side != CLIENT:
            if not talk.lost and not _is_beginning(event):
                await self._compare(line, event, talk)
        elif event.what == END:
            await self._close(event.connection)
        else:
            command = _command(event)
            if command is not None and not command.is_response:
                talk.asked[command.opaque] = command.code
                self._note_effect(command)
            talk.open_ended = True
            with trio.move_on_after(ANSWER_SECONDS * self._patience):
                await talk.link.send(event.data)

    def _note_effect(self, command: RemotingCommand) -> None:
        """Keep in mind what stays in the server; brokers go with their connections."""
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

    async def _compare(self, line: int, event: Event, talk: _Talk) -> None:
        """Wait for what is there instead of something that was recorded."""
        recorded = _arrival(event)
        arrival = None
        with trio.move_on_after(ANSWER_SECONDS * self._patience):
            arrival = await talk.link.next(
                lambda candidate: candidate.kind == "end" or _fits(candidate, recorded)
            )
        self.compared += 1
        talk.open_ended = False
        talk.lost = arrival is not None and arrival.kind == "end"
        code = talk.asked.get(recorded.command.opaque) if recorded.command is not None else None
        what = f"{recorded.kind} to {code}" if code is not None else recorded.kind
        self._differ(event.connection, f"line {line}, {what}", recorded, arrival, code)

    async def _close(self, number: int) -> None:
        """Close a connection, and tell of what came over it and was not recorded."""
        talk = self._talks.pop(number)
        if talk.open_ended and not talk.lost:
            await trio.sleep(SURPLUS_SECONDS * self._patience)
        for arrival in talk.link.arrivals:
            if arrival.kind != "end":
                self._differ(number, "surplus", None, arrival, None)
        if talk.link.ended and not talk.lost:
            self._differ(number, "at the end", None, Arrival("end"), None)
        await talk.link.close()

    def _differ(
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
    """The command of a frame; None where it is none."""
    if event.what != FRAME:
        return None
    try:
        return decode(event.data)
    except DecodeError:
        return None


def _is_beginning(event: Event) -> bool:
    """Whether an event is the beginning of a frame that was never ended: nothing that a client would have noticed."""
    if event.what != BYTES:
        return False
    decoder = FrameDecoder()
    decoder.feed(event.data)
    try:
        return decoder.next_frame() is None
    except DecodeError:
        return False


def _arrival(event: Event) -> Arrival:
    """What a recorded event of the server was for its client."""
    if event.what == END:
        return Arrival("end")
    command = _command(event)
    if command is None:
        return Arrival("rubbish", event.data)
    return Arrival("response" if command.is_response else "request", event.data, command)


def _fits(arrival: Arrival, recorded: Arrival) -> bool:
    """Whether an arrival stands where the recorded one stood: an answer by its number, anything else by its kind."""
    if arrival.kind != recorded.kind:
        return False
    if arrival.kind != "response" or arrival.command is None or recorded.command is None:
        return True
    return arrival.command.opaque == recorded.command.opaque


async def replay(
    events: Sequence[Event], target: Address, *, patience: float = 1.0, exact: bool = False
) -> Replay:
    """Play a recording to a server; returns what was found.

    Raises:
        UnreachableError: a connection was not opened.
    """
    # a nursery wraps what it raises; the caller wants the one error
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
