"""``State``: the state of a name server, and its changes without a request.

Rules of this file: ``now`` is monotonic seconds and comes in as an argument; wall time is ``now``
plus a constant.

Java: ``NamesrvController``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rocketwire.codes import LanguageCode, RequestCode
from rocketwire.connection.guards import Holdings
from rocketwire.flags import CommandFlag
from rocketwire.messages import encode_header
from rocketwire.messages.registration import NotifyMinBrokerIdChangeRequestHeader
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.frame import BodySpace
from rocketwire_namesrv.config.access_control import Access
from rocketwire_namesrv.events import MinBrokerIdChanged, PartsOverdue
from rocketwire_namesrv.protocol.counters import Counters
from rocketwire_namesrv.protocol.route_fast_path import RouteFastPath, RouteResponseTemplate
from rocketwire_namesrv.protocol.views import Views
from rocketwire_namesrv.registration.split import SplitRegistrations
from rocketwire_namesrv.routes.kv_config import KVConfig
from rocketwire_namesrv.routes.peer_views import PeerViews
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.steps import run_steps
from rocketwire_namesrv.routes.warm_start import WarmStart

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.config.config import Config

Notification = tuple[str, RemotingCommand]
"""A command that the name server sends by itself: its address and the command."""


class State:
    """The state of one name server, shared by all its sessions."""

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
        self.config = config  #: replaced as a whole by ``configure``
        self.table = RouteTable()
        self.kv = KVConfig() if kv is None else kv  #: the key/value configuration
        self.kv_unread = False  #: whether its file could not be read, and must not be overwritten
        self.parts = SplitRegistrations()  #: registrations that are not complete yet
        #: when to warn again of topics that are left out, by broker name
        self.next_warning: dict[str, float] = {}
        #: encoded answers
        self.views = Views(self.table, support_acting_master=config.support_acting_master)
        self.response_template = RouteResponseTemplate(config.serialize_type)  #: of most responses
        #: answers ordinary route requests
        self.route_fast_path = RouteFastPath(self.table, self.views, self.response_template)
        self.peers = PeerViews()  #: comparisons with other name servers
        #: the wait for the brokers that were registered before a restart
        self.warm_start = WarmStart() if warm_start is None else warm_start
        self.epoch_ms = epoch_ms  #: wall-clock milliseconds when ``now`` was zero
        self.started = started  #: ``now`` when the server started
        #: ``now`` of the last scan for silent brokers; None before the first one
        self.scanned: float | None = None
        self.counters = Counters()  #: statistics of the requests
        #: whether a request may change the configuration (318); Java always allows it
        self.allow_config_update = allow_config_update
        #: every request is answered with a route (clusterTest)
        self.cluster_test = config.cluster_test
        #: an orderly shutdown has begun: no routes are returned any more
        self.shutting_down = False
        #: answer GO_AWAY to the clients that understand it; a phase of the graceful shutdown
        self.sends_away = False
        self.stepping = False  #: whether a request that takes several steps is in progress
        self.access = Access.of(config)
        self.holdings = Holdings()  #: bytes of incomplete requests
        self.unsent = Holdings()  #: bytes of large responses that their peers have not received yet
        self.body_space = BodySpace()  #: memory for large registrations, reused
        self._opaque = 0
        self._fast_path_config: Config | None = None  # see ``can_use_fast_path``

    def wall_ms(self, now: float) -> int:
        return self.epoch_ms + int(now * 1000)

    def is_ready(self, now: float) -> bool:
        """Return whether routes may be returned: the server is not stopping (Java: after 5.5.1),
        brokers have had the time to register (needWaitForService), and the brokers from before a
        restart are back or missing for too long (warm start)."""
        if self.shutting_down:
            return False
        config = self.config
        since_start = now - self.started
        if config.need_wait_for_service and since_start < config.wait_seconds_for_service:
            return False
        if not self.warm_start.awaited:
            return True
        # a broker whose topics are still being registered is not back yet
        return not self.stepping and self.warm_start.is_over(self.table, since_start)

    def can_use_fast_path(self, now: float) -> bool:
        """Return whether the response to a route request depends on the routes only."""
        return not self.shutting_down and (
            self._fast_path_config is self.config or self._allow_fast_path(now)
        )

    def _allow_fast_path(self, now: float) -> bool:
        config = self.config
        is_allowed = not (
            self.cluster_test
            or config.order_message_enable
            or bool(self.warm_start.awaited)
            or (config.need_wait_for_service and not self.is_ready(now))
        )
        self._fast_path_config = config if is_allowed else None
        return is_allowed

    def configure(self, config: Config) -> None:
        """Replace the configuration; settings that are read at start only keep their effect."""
        self.config = config
        self.views.support_acting_master = config.support_acting_master
        self.table.topics.layouts.forget_all()

    def expire(self, now: float) -> tuple[tuple[Event, ...], tuple[int, ...]]:
        self.scanned = now
        events, connections = self.table.expire(
            now, notify=self.config.notify_min_broker_id_changed
        )
        return tuple(events), tuple(connections)

    def complete_parts(self, now: float) -> tuple[Event, ...]:
        """Register the registrations whose next part is late."""
        if self.stepping or not self.parts:  # one registration at a time
            return ()
        events: list[Event] = []
        for registration in self.parts.overdue(now):
            registered = run_steps(
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
        """Return the commands (905, oneway) that notify brokers of a new smallest id."""
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
