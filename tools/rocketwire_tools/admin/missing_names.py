"""Names of topics, groups, clusters and brokers that do not exist, and the nearest that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.codes import ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ClusterNotFoundError,
    TopicRouteNotFoundError,
)
from rocketwire.nearest import did_you_mean
from rocketwire.policy.resource_names import RETRY_PREFIX, is_retry_topic
from rocketwire_tools.cli.command import NotFoundError

if TYPE_CHECKING:
    import argparse

    from rocketwire.client.admin import Admin

_OPTIONS = {
    ResponseCode.TOPIC_NOT_EXIST: ("topic", ("topic", "topic_name")),
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: ("group", ("group_name", "consumer_group", "group")),
}
"""What a broker does not have according to its response, and the options that name it."""


def missing_name(
    error: BaseException | None, arguments: argparse.Namespace
) -> tuple[str | None, str]:
    if isinstance(error, NotFoundError):
        return error.kind, error.name
    if isinstance(error, TopicRouteNotFoundError):
        is_group = is_retry_topic(error.topic)
        return ("group" if is_group else "topic"), error.topic.removeprefix(RETRY_PREFIX)
    if isinstance(error, ClusterNotFoundError):
        return "cluster", error.cluster
    if isinstance(error, BrokerNotFoundError):
        return "broker", error.broker_name
    if isinstance(error, BrokerError) and error.code in _OPTIONS:
        kind, names = _OPTIONS[ResponseCode(error.code)]
        return kind, next((getattr(arguments, name, None) or "" for name in names), "")
    return None, ""


async def suggest(admin: Admin, kind: str, name: str) -> str:
    """What to say about a name that does not exist; empty if no name is similar."""
    info = await admin.clusters.info()
    if not info.broker_addr_table:
        return "no broker is registered with the name server"
    known: set[str] = set()
    if kind == "cluster":
        known = {*(info.cluster_addr_table or {})}
    elif kind == "broker":
        known = {*info.broker_addr_table}
    elif kind == "topic":
        known = {*await admin.topics.names()}
    else:
        for address in await admin.clusters.masters():
            known |= {*await admin.groups.configs(address)}
    return did_you_mean(name, known - {name}).removeprefix("; ")
