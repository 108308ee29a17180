"""``Broker``: the whole state, and what handlers do with it.

Rules of this file: nothing here knows sockets or clocks. Time is an argument, in milliseconds since
1970. Frames to be sent lie in ``Peer.out`` and their peers in ``outbox``; the driver sends them.

Java: ``BrokerController``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection.guards import Guard, Holdings, exceeds
from rocketwire.errors import EncodeError
from rocketwire.flags import CommandFlag
from rocketwire.serving.events import LimitExceeded
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.ids import create_offset_message_id
from rocketwire_broker.state.faults import Faults
from rocketwire_broker.state.lite import LiteTopics
from rocketwire_broker.state.response import (
    RefusedError,
    Response,
    encode_frame,
)
from rocketwire_broker.state.schedule import MAX_ACTIONS, Schedule
from rocketwire_broker.state.statistics import SAMPLE_MS, Statistics
from rocketwire_broker.state.waits import TopicQueue, Wait, Waits, WakeUp
from rocketwire_broker.storage.store import Store, StoredPosition
from rocketwire_broker.tables.groups import Groups
from rocketwire_broker.tables.members import Locks, Members
from rocketwire_broker.tables.offsets import Offsets
from rocketwire_broker.tables.pops import PopOrders, Pops
from rocketwire_broker.tables.routes import Routes
from rocketwire_broker.tables.topics import Topics
from rocketwire_broker.tables.waiting import HalfMessages, Timers

if TYPE_CHECKING:
    from rocketwire.messages.allocation import SetMessageRequestModeRequestBody
    from rocketwire.serving.events import Event
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.access import Access
    from rocketwire_broker.config import Config
    from rocketwire_broker.state.schedule import Action, Entry
    from rocketwire_broker.storage.message import Message
    from rocketwire_broker.tables.members import Member, Peer

LARGE: Final = 16_384  # unsent bytes of a connection from which on they are counted

POSTPONE_MS: Final = 100  # time between two looks at whether a client reads its responses again

SCAN_MS: Final = 10_000  # time between two searches for silent clients and old messages

_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)

Answered = Callable[["RemotingCommand | None", int], None]
"""Called with a client's answer to a request, or None if there is none, and the time."""


class Broker:
    """A broker without its sockets, with messages in memory by default."""

    def __init__(self, config: Config, now: int, store: Store | None = None) -> None:
        self.config = config  # the settings; the listening port is the real one
        # ``host:port`` for clients
        self.address = f"{config.broker_ip}:{config.advertised_port or config.listen_port}"
        self.started = now
        self.store = (
            store
            if store is not None
            else Store(
                retain_bytes=config.retain_bytes,
                retain_ms=config.retain_hours * 3_600_000,
                store_host=Host.parse(self.address),
            )
        )
        self.topics = Topics(config, now)
        self.groups = Groups(config, now)
        self.offsets = Offsets(now)
        self.members = Members(config)
        self.locks = Locks(config.lock_expiry_ms, config.max_locks)
        self.timers = Timers()
        self.half_messages = HalfMessages()
        # offset of the first message that still waits, by queue of the delay topic
        self.delivered: dict[int, int] = {}
        # popped messages that are not acknowledged
        self.pops: Pops[Entry] = Pops(is_logged=self.store.is_durable)
        self.pop_orders = PopOrders()
        self.routes = Routes()  # queues of topics at all brokers
        # whether a group pulls or pops a topic (code 401), by topic and group
        self.request_modes: dict[str, dict[str, SetMessageRequestModeRequestBody]] = {}
        # bytes of cold data that groups may read; without effect
        self.cold_read_limits: dict[str, int] = {}
        # milliseconds by which the broker's clock is ahead of its clients' clocks: a test has moved
        # it, or the wall clock has jumped back
        self.clock_advance = 0
        # accounts, and what they may do; None if every request may be sent
        self.access: Access | None = None
        self.faults = Faults()  # what a test lets happen to the next requests
        self.schedule = Schedule()
        self.waits = Waits()
        self.statistics = Statistics()
        self.peers: dict[int, Peer] = {}  # open connections by number
        # peers with frames to send, by number; the driver empties it
        self.outbox: dict[int, Peer] = {}
        self.closing: dict[int, str] = {}  # connections that the driver has to close, by number
        # parts of a turn that requests have taken; from 1 on other connections are served before
        # the next request
        self.work = 0.0
        self.queued = 0  # bytes in ``Peer.out``; the driver resets it
        # unsent, buffered: ``Peer.unsent``, if it is large, and the bytes of requests that are not
        # handled or wait, by number of the connection.
        self.unsent = Holdings()
        self.buffered = Holdings()
        self.record: Callable[[Event], None] = lambda event: None  # for the log
        self._id_prefix = create_offset_message_id(self.store.store_host, 0)[:-16]
        self._relays: dict[tuple[int, int], tuple[Answered, Entry]] = {}
        self._unique = 0
        self._pops = 0
        self._untold: dict[str, list[Member]] = {}
        self.store.has_lmqs = config.enable_lmq
        self.lite = LiteTopics(self, now)  # lite topics, their readers and events
        self.schedule.repeat_every(SCAN_MS, self._scan, now)
        self.schedule.repeat_every(SAMPLE_MS, self.statistics.sample, now)

    def configure(self, config: Config, now: int) -> None:
        """Use other settings from now on; those that are ``is_fixed`` must be the same."""
        self.config = self.groups.config = self.members.config = config
        self.topics.configure(config, now)
        self.locks.max_locks = config.max_locks
        retain_bytes = config.store_retain_bytes if self.store.is_durable else config.retain_bytes
        self.store.retain(retain_bytes, config.retain_hours * 3_600_000)
        self.store.has_lmqs = config.enable_lmq

    # ------------------------------------------------------------------ messages

    def put(self, message: Message, now: int) -> StoredPosition:
        """Store a message in a queue; ``settle`` wakes the requests that wait for it."""
        position = self.store.put(message, now)
        self.statistics.note_put(message.topic, position.size)
        return position

    def put_all(self, messages: Sequence[Message], now: int) -> list[StoredPosition]:
        positions = self.store.put_all(messages, now)
        for position in positions:
            self.statistics.note_put(messages[0].topic, position.size)
        return positions

    def put_if_it_fits(self, message: Message, now: int) -> StoredPosition | None:
        """Store a message again, with more properties than before; there is no request to answer.

        As in Java, the message is lost if the properties are too large now.
        """
        try:
            return self.put(message, now)
        except EncodeError:
            return None

    def message_id(self, physical: int) -> str:
        return f"{self._id_prefix}{physical:016X}"

    def new_unique_key(self, now: int) -> str:
        """Return a message id for a message without one (Java: ``MessageClientIDSetter``)."""
        self._unique += 1
        address, port = self.store.store_host
        number = (now & 0xFFFFFFFFFFFF) << 32 | self._unique & 0xFFFFFFFF
        return (address[-4:] + port.to_bytes(2) + number.to_bytes(10)).hex().upper()

    def next_pop(self) -> int:
        """Return the number of a pop, by which pops take turns among queues."""
        self._pops += 1
        return self._pops

    # ------------------------------------------------------------------ answers and requests

    def answer(self, peer: Peer, opaque: int, response: Response) -> None:
        if not peer.gone:
            self._send(peer, opaque, _RESPONSE, response)

    def notify(
        self, peer: Peer, code: int, ext_fields: Mapping[str, str], body: bytes = b""
    ) -> None:
        if not peer.gone:
            content = Response(code, None, ext_fields, (body,) if body else ())
            self._send(peer, peer.new_opaque(), _ONEWAY, content)

    def ask(
        self,
        peer: Peer,
        code: int,
        ext_fields: Mapping[str, str] | None,
        body: bytes,
        answered: Answered,
        now: int,
    ) -> None:
        """Send a request to a client; ``answered`` is called once, also without an answer."""
        if exceeds(len(self._relays) + 1, self.config.max_relayed_requests):
            raise RefusedError(ResponseCode.SYSTEM_BUSY, "too many requests to clients")
        opaque = peer.new_opaque()
        key = (peer.number, opaque)

        def give_up(now: int) -> None:
            del self._relays[key]
            answered(None, now)

        entry = self.schedule.at(now + self.config.relay_timeout_ms, give_up)
        self._relays[key] = (answered, entry)
        self._send(peer, opaque, 0, Response(code, None, ext_fields, (body,) if body else ()))

    def _send(self, peer: Peer, opaque: int, flag: int, content: Response) -> None:
        parts = encode_frame(content, opaque, flag, binary=self.config.binary)
        size = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
        peer.out += parts
        peer.unsent += size
        self.queued += size
        self.outbox[peer.number] = peer
        if size >= LARGE:
            self.note_unsent(peer)

    def take_response(self, peer: Peer, response: RemotingCommand, now: int) -> None:
        """Take a client's response to ``ask``; an unexpected one is dropped."""
        found = self._relays.pop((peer.number, response.opaque), None)
        if found is not None:
            answered, entry = found
            self.schedule.cancel(entry)
            answered(response, now)

    # ------------------------------------------------------------------ waiting

    def hold(
        self,
        peer: Peer,
        opaque: int,
        queues: Iterable[TopicQueue],
        wake_up: WakeUp,
        due: int,
        *,
        size: int = 0,
    ) -> None:
        """Let a request wait for messages until a time; ``size`` is about its bytes of memory."""
        config = self.config
        if exceeds(len(self.waits) + 1, config.max_held) or exceeds(
            peer.held + 1, config.max_held_per_peer
        ):
            raise RefusedError(ResponseCode.SYSTEM_BUSY, "too many requests wait for messages")
        wait = Wait(peer, opaque, tuple(queues), wake_up, size)
        wait.deadline = self.schedule.at(
            due, lambda now: self._wake_up(wait, now, must_answer=True)
        )
        self.waits.add(wait)
        if size:
            self.note_buffered(peer)

    def wake_topic(self, topic: str, now: int) -> None:
        for wait in self.waits.of_topic(topic):
            self._wake_up(wait, now, must_answer=True)

    def _wake_up(self, wait: Wait, now: int, *, must_answer: bool = False) -> None:
        if exceeds(wait.peer.unsent, self.config.max_unsent_bytes):
            self._postpone(wait, now)
            return
        try:
            response = wait.wake_up(now, must_answer)
        except RefusedError as refused:
            response = refused.response
        if response is not None:
            self._end_wait(wait)
            self.answer(wait.peer, wait.opaque, response)

    def _postpone(self, wait: Wait, now: int) -> None:
        # the client does not read its responses now
        if wait.deadline is not None:
            self.schedule.cancel(wait.deadline)
        wait.deadline = self.schedule.at(
            now + POSTPONE_MS, lambda now: self._wake_up(wait, now, must_answer=True)
        )

    def _end_wait(self, wait: Wait) -> None:
        self.waits.remove(wait)
        if wait.deadline is not None:
            self.schedule.cancel(wait.deadline)
        if wait.size:
            self.note_buffered(wait.peer)

    def settle(self, now: int) -> list[Action]:
        """Do what follows from the requests before it, and what is due; return the latter.

        The driver calls it after each batch of requests, and when ``schedule.next_due`` is reached.
        """
        actions = self.schedule.run(now)
        arrivals = self.store.arrivals
        while arrivals:
            self.lite.note_arrivals(arrivals, now)
            woken = self.waits.find_waiting(arrivals)
            arrivals.clear()
            if woken:
                self._wake_all(woken, now)
        return actions

    def _wake_all(self, waits: list[Wait], now: int) -> None:
        # Between two turns, which are a millisecond apart, the driver serves others.
        for wait in waits[:MAX_ACTIONS]:
            if wait in self.waits:
                self._wake_up(wait, now)
        if rest := waits[MAX_ACTIONS:]:
            self.schedule.at(now + 1, lambda now: self._wake_all(rest, now))

    # ------------------------------------------------------------------ connections

    def add_peer(self, peer: Peer) -> None:
        self.peers[peer.number] = peer

    def remove_peer(self, peer: Peer, now: int) -> None:
        peer.gone = True
        peer.out.clear()
        self.peers.pop(peer.number, None)
        self.outbox.pop(peer.number, None)
        for wait in self.waits.of_peer(peer.number):
            self._end_wait(wait)
        self.unsent.note(peer.number, 0)
        self.buffered.note(peer.number, 0)
        for group in self.members.remove(peer.number):
            self.notify_members(group, now)
        for key in [key for key in self._relays if key[0] == peer.number]:
            answered, entry = self._relays.pop(key)
            self.schedule.cancel(entry)
            answered(None, now)

    def note_unsent(self, peer: Peer) -> None:
        size = peer.unsent if peer.unsent >= LARGE and not peer.gone else 0
        self.unsent.note(peer.number, size)
        limit = self.config.max_all_unsent_bytes
        if self.unsent.total > limit:
            self._relieve(self.unsent, Guard.ALL_UNSENT_BYTES, limit, "unsent responses")

    def note_buffered(self, peer: Peer) -> None:
        self.buffered.note(peer.number, peer.buffered + peer.held_bytes)
        limit = self.config.max_buffered_bytes
        if self.buffered.total > limit:
            self._relieve(self.buffered, Guard.BUFFERED_BYTES, limit, "waiting requests")

    def _relieve(self, holdings: Holdings, guard: Guard, limit: int, what: str) -> None:
        for number, size in holdings.remove_largest(limit):
            text = f"{what}; connection {number} with {size} bytes is closed"
            self.closing[number] = text
            self.record(LimitExceeded(limit=guard, allowed=limit, what=text))

    def notify_members(self, name: str, now: int) -> None:
        """Notify the members of a clustering group of a change (40), many in several turns."""
        group, config = self.members.online(name), self.groups.get(name)
        if group is None or group.is_broadcasting:
            return
        if config is not None and not config.notify_consumer_ids_changed_enable:
            return
        self._untold.pop(name, None)  # a group that changes all the time waits for the others
        self._untold[name] = list(group.members.values())
        self.schedule.run_by("notifications", now, self._notify_some)

    def _notify_some(self, now: int) -> None:
        for _ in range(MAX_ACTIONS):
            if not self._untold:
                return
            name, members = next(iter(self._untold.items()))
            code = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED
            self.notify(members.pop().peer, code, {"consumerGroup": name})
            if not members:
                del self._untold[name]
        self.schedule.run_by("notifications", now + 1, self._notify_some)

    def _scan(self, now: int) -> None:
        self.store.expire(now)
        for peer in self.members.silent(now - self.config.client_expiry_ms):
            self.closing[peer.number] = "no heartbeat"
            for group in self.members.remove(peer.number):
                self.notify_members(group, now)
