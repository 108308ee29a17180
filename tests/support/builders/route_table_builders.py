"""Registrations for tests of the route table, and how they are applied at once."""

from rocketwire.messages.registration import DataVersion
from rocketwire_namesrv.routes.brokers import Registered, Registration
from rocketwire_namesrv.routes.queue_layouts import QueueSettings
from rocketwire_namesrv.routes.route_table import RouteTable
from rocketwire_namesrv.routes.steps import run_steps

A, B = "10.0.0.1:10911", "10.0.0.2:10911"


def settings_of(perm: int = 6, queues: int = 8) -> QueueSettings:
    return QueueSettings(queues, queues, perm, 0)


def registration(
    address: str = A,
    broker_id: int = 0,
    *names: str,
    broker_name: str = "b1",
    cluster: str = "C",
    counter: int = 0,
    state_version: int = 0,
    connection_id: int = 1,
    acting: bool | None = False,
    perm: int = 6,
) -> Registration:
    topics = tuple((name, settings_of(perm)) for name in (names or ("TA", "TB")))
    return Registration(
        cluster=cluster,
        address=address,
        broker_name=broker_name,
        broker_id=broker_id,
        data_version=DataVersion(counter=counter, state_version=state_version, timestamp=1),
        connection_id=connection_id,
        ha_address=f"ha-{address}",
        enable_acting_master=acting,
        topics=topics,
        topic_keys=[name for name, _ in topics],
        mappings={},
    )


def register(
    table: RouteTable,
    what: Registration,
    now: float = 0.0,
    *,
    delete_absent_topics: bool = False,
    notify: bool = False,
) -> Registered:
    steps = table.register(what, now, delete_absent_topics=delete_absent_topics, notify=notify)
    return run_steps(steps)


def perms(table: RouteTable, topic: str) -> dict[str | None, int]:
    layout = table.topics.entries.get(topic)
    return {} if layout is None else {queue.broker_name: queue.perm for queue in layout.queues}
