"""``State``: everything a name server knows, and what happens without a request.

Rules of this file: ``now`` is monotonic seconds and comes in as an argument; wall time is ``now``
plus a constant.

Java: ``NamesrvController``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode, RequestCode
from rocketwire.flags import CommandFlag
from rocketwire.messages import encode_header
from rocketwire.messages.registration import NotifyMinBrokerIdChangeRequestHeader
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.frame import BodySpace
from rocketwire_namesrv.config.access_control import Access
from rocketwire_namesrv.config.limits import Holdings
from rocketwire_namesrv.events import Event, MinBrokerIdChanged, PartsOverdue
from rocketwire_namesrv.protocol.counters import Counters
from rocketwire_namesrv.protocol.route_fast_path import RouteFastPath, RouteResponseTemplate
from rocketwire_namesrv.protocol.views import Views
from rocketwire_namesrv.registration.split import SplitRegistrations
from rocketwire_namesrv.routes.kv_config import KVConfig
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.steps import drained
from rocketwire_namesrv.routes.warm_start import WarmStart

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocketwire_namesrv.config.config import Config

Notification = tuple[str, RemotingCommand]
"""Where a command of the name server's own has to go, and the command."""


class State:
    """The state of one name server, shared by all its sessions.

    Attributes:
        config: replaced as a whole by ``configure``.
        table: the routes.
        kv: the key/value configuration.
        kv_unread: whether there is a file of it that could not be read, and must not be overwritten.
        parts: registrations that are not complete yet.
        views: encoded answers.
        warm_start: the wait for the brokers that were there before.
        epoch_ms: wall-clock milliseconds when ``now`` was zero.
        started: ``now`` when the server started.
        allow_config_update: whether a request may change the configuration (318); Java always lets
            it.
        cluster_test: whatever is asked is answered with a route (clusterTest).
        shutting_down: an orderly shutdown has begun: no routes are given out any more.
        sends_away: answer GO_AWAY to the clients that know it; a part of some shutdowns.
        plain_answer: the pattern of most answers.
        reads: the short way from route requests to their answers.
        scanned: ``now`` of the latest look for silent brokers; None before the first one.
        counters: how many requests there were, and how they went.
        stepping: whether a request that takes several steps has begun and not ended.
        access: who may ask what.
        holdings: what is held of requests that are not whole yet.
        unsent: large answers that wait for their peers to take them.
        body_space: memory for large registrations, used again and again.
    """

    def __init__(
        self,
        config: Config,
        *,
        kv: KVConfig | None = None,
        epoch_ms: int = 0,
        started: float = 0.0,
        allow_config_update: bool = False,
        warm_start: WarmStart | None = None,
    ) -> None:
        self.config = config
        self.table = RouteTable()
        self.kv = KVConfig() if kv is None else kv
        self.kv_unread = False
        self.parts = SplitRegistrations()
        self.views = Views(self.table, support_acting_master=config.support_acting_master)
        self.plain_answer = RouteResponseTemplate(config.serialize_type)
        self.route_fast_path = RouteFastPath(self.table, self.views, self.plain_answer)
        self.warm_start = WarmStart() if warm_start is None else warm_start
        self.epoch_ms = epoch_ms
        self.started = started
        self.scanned: float | None = None
        self.counters = Counters()
        self.allow_config_update = allow_config_update
        self.cluster_test = config.cluster_test
        self.shutting_down = False
        self.sends_away = False
        self.stepping = False
        self.access = Access.of(config)
        self.holdings = Holdings()
        self.unsent = Holdings()
        self.body_space = BodySpace()
        self._opaque = 0
        self._fast_path_config: Config | None = None  # see ``can_use_fast_path``

    def wall_ms(self, now: float) -> int:
        """Wall-clock milliseconds at ``now``."""
        return self.epoch_ms + int(now * 1000)

    def is_ready(self, now: float) -> bool:
        """Whether routes may be given out: the server is not about to stop (Java: from 5.5.1 on),
        brokers have had the time to register (needWaitForService), and those that are known from
        before are back or missing for too long (warm start)."""
        if self.shutting_down:
            return False
        config = self.config
        since_start = now - self.started
        if config.need_wait_for_service and since_start < config.wait_seconds_for_service:
            return False
        if not self.warm_start.awaited:
            return True
        # whose topics are only being taken over is not back yet
        return not self.stepping and self.warm_start.is_over(self.table, since_start)

    def can_use_fast_path(self, now: float) -> bool:
        """Whether the answer to a route request depends on nothing but the routes."""
        return not self.shutting_down and (
            self._fast_path_config is self.config or self._allow_fast_path(now)
        )

    def _allow_fast_path(self, now: float) -> bool:
        """Whether nothing but the routes counts from now on, until the configuration changes."""
        config = self.config
        plain = not (
            self.cluster_test
            or config.order_message_enable
            or bool(self.warm_start.awaited)
            or (config.need_wait_for_service and not self.is_ready(now))
        )
        self._fast_path_config = config if plain else None
        return plain

    def configure(self, config: Config) -> None:
        """Takes another configuration; what is read at start only keeps its former value in
        effect."""
        self.config = config
        self.views.support_acting_master = config.support_acting_master
        self.table.topics.layouts.forget_all()

    def expire(self, now: float) -> tuple[tuple[Event, ...], tuple[int, ...]]:
        """Removes the brokers that have been silent for too long.

        Returns:
            What happened, and the ids of the connections to close.
        """
        self.scanned = now
        events, connections = self.table.expire(
            now, notify=self.config.notify_min_broker_id_changed
        )
        return tuple(events), tuple(connections)

    def complete_parts(self, now: float) -> tuple[Event, ...]:
        """Registers what has been waiting for its next part for too long."""
        if self.stepping or not self.parts:  # one registration at a time
            return ()
        events: list[Event] = []
        for registration in self.parts.overdue(now):
            registered = drained(
                self.table.register(
                    registration,
                    now,
                    delete_absent_topics=self.config.delete_topic_with_broker_registration,
                    notify=self.config.notify_min_broker_id_changed,
                )
            )
            events += registered.events
            events.append(
                PartsOverdue(
                    cluster=registration.cluster,
                    address=registration.address,
                    broker_name=registration.broker_name,
                    topics=len(registration.topics),
                )
            )
        return tuple(events)

    def notifications(self, events: Iterable[Event]) -> tuple[Notification, ...]:
        """The commands (905, oneway) that tell brokers of a new smallest id."""
        result: list[Notification] = []
        for event in events:
            if isinstance(event, MinBrokerIdChanged):
                command = self._min_broker_id_changed(event)
                result += [(address, command) for address in event.targets]
        return tuple(result)

    def _min_broker_id_changed(self, event: MinBrokerIdChanged) -> RemotingCommand:
        header = NotifyMinBrokerIdChangeRequestHeader(
            min_broker_id=event.broker_id,
            min_broker_addr=event.address,
            offline_broker_addr=event.offline_address,
            ha_broker_addr=event.ha_address,
        )
        fields = encode_header(header)
        self._opaque += 1
        return RemotingCommand(
            code=RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE,
            language=LanguageCode.JAVA,
            opaque=self._opaque,
            flag=CommandFlag.ONEWAY,
            ext_fields={name: fields[name] for name in _ORDER if name in fields},
            serialize_type=self.config.serialize_type,
        )


_ORDER = ("haBrokerAddr", "offlineBrokerAddr", "minBrokerAddr", "minBrokerId")
"""Java's order of the fields of request 905."""
