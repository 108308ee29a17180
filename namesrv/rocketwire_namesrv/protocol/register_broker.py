"""Request 103, by which a broker registers: the handler that runs in several steps.

Rules of this file: those of ``handlers``; the state may change between two steps.

Java: ``DefaultRequestProcessor.registerBroker``.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.errors import DecodeError, LimitExceededError
from rocketwire.messages import decode_header, encode_header
from rocketwire.messages.registration import (
    RegisterBrokerRequestHeader,
    RegisterBrokerResponseHeader,
)
from rocketwire.serving.events import Event, ExceededAgain
from rocketwire_namesrv.config.limits import Limit, LimitReachedError
from rocketwire_namesrv.events import ChecksumMismatch, RegistrationRefused
from rocketwire_namesrv.protocol.admission import Excess, fit_body, fit_registration
from rocketwire_namesrv.protocol.counters import TimedWork
from rocketwire_namesrv.protocol.response import Peer, Response, kv_table, require
from rocketwire_namesrv.protocol.route_fast_path import ZONE_NAME
from rocketwire_namesrv.registration.digests import ChecksumError, check_sum
from rocketwire_namesrv.registration.parsed import BodyRecord, RegisteredTopics
from rocketwire_namesrv.registration.reader import MANY_BYTES, read_registered_topics
from rocketwire_namesrv.routes.brokers import Registration
from rocketwire_namesrv.routes.kv_config import ORDER_TOPIC_CONFIG
from rocketwire_namesrv.routes.steps import run_steps

if TYPE_CHECKING:
    from rocketwire.serving.events import Event
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_namesrv.protocol.state import State


REPEAT_SECONDS: Final = 600.0
"""Seconds between two warnings about topics of a broker that are left out."""
MAX_WARNED: Final = 1024
"""Maximum number of brokers whose last warning is remembered."""


def register_broker(
    state: State, request: RemotingCommand, peer: Peer, now: float
) -> Generator[None, None, Response]:
    """Handle 103, in steps. A broker without a name, an address or a cluster is refused; Java
    registers it."""
    header = decode_header(RegisterBrokerRequestHeader, request.ext_fields)
    refused: Mapping[str, str] = encode_header(RegisterBrokerResponseHeader())
    config = state.config
    start = state.counters.begin()
    try:
        part, excesses = yield from _registration(state, request, header, peer, now)
        state.counters.record_duration(TimedWork.REGISTRATION_DECODE, start)
    except ChecksumError as error:
        mismatch = (ChecksumMismatch(client=peer.address),)
        return Response(ResponseCode.SYSTEM_ERROR, str(error), refused, None, mismatch)
    absent = config.delete_topic_with_broker_registration
    part, more = fit_registration(config, state.table, part, state.parts, replaces=absent)
    left_out = _report(state, part.broker_name, (*excesses, *more), now)
    registration = state.parts.gather(
        part,
        now,
        size=config.split_registration_size,
        version=request.version,
        is_new=_is_java_broker(header) and state.table.data_version(*part.key) is None,
    )
    if registration is None:
        return _accept(state, *state.table.part_received(part, now), left_out)
    steps = state.table.register(
        registration, now, delete_absent_topics=absent, notify=config.notify_min_broker_id_changed
    )
    if registration is part or state.table.data_version(*part.key) == registration.data_version:
        registered = yield from steps
    else:  # all parts become visible together: no reader may come in between
        registered = run_steps(steps)
    events = (*registered.events, *left_out)
    if not registered.accepted:
        reason = "one topic of a broker that has not registered"
        refusal = RegistrationRefused(
            broker_name=header.broker_name, address=header.broker_addr, reason=reason
        )
        events = (*events, refusal)
        return Response(ResponseCode.SYSTEM_ERROR, "register broker failed", refused, None, events)
    return _accept(state, registered.ha_address, registered.master_address, events)


def _report(
    state: State, broker_name: str, excesses: tuple[Excess, ...], now: float
) -> tuple[Event, ...]:
    # a broker sends the same topics every 30 seconds: it gets a warning once in a while
    if not excesses:
        return ()
    events = tuple(excess.event(broker_name) for excess in excesses)
    if now < state.next_warning.get(broker_name, now):
        return tuple(ExceededAgain(limit=e.limit, allowed=e.allowed, what=e.what) for e in events)
    if len(state.next_warning) >= MAX_WARNED:
        state.next_warning.clear()
    state.next_warning[broker_name] = now + REPEAT_SECONDS
    return events


def _is_java_broker(header: RegisterBrokerRequestHeader) -> bool:
    # every Java broker of 5.x sets these fields
    return bool(header.body_crc32) and header.enable_acting_master is not None


def _accept(
    state: State, ha_address: str | None, master_address: str | None, events: tuple[Event, ...] = ()
) -> Response:
    body = None
    if state.config.return_order_topic_config_to_broker:
        body = kv_table(state, ORDER_TOPIC_CONFIG)
    response = RegisterBrokerResponseHeader(ha_server_addr=ha_address, master_addr=master_address)
    return Response(ext_fields=encode_header(response), body=body, events=events)


def _registration(
    state: State,
    request: RemotingCommand,
    header: RegisterBrokerRequestHeader,
    peer: Peer,
    now: float,
) -> Generator[None, None, tuple[Registration, tuple[Excess, ...]]]:
    # without topics if the body is the broker's previous one and the table still holds it
    crc = header.body_crc32 or 0
    if request.version < 0:
        yield from check_sum(request.body, crc)
        raise DecodeError(f"version {request.version} is below all that MQVersion lists")
    record: object = None
    if not state.config.delete_topic_with_broker_registration:  # that needs the names of all
        record = state.table.body_record(header.cluster_name, header.broker_addr)
    previous = record if isinstance(record, BodyRecord) else None
    content, excesses = yield from _content(state, request, header, now, previous, crc)
    if len(request.body or b"") >= MANY_BYTES:
        yield  # from here to the first change of the table there is no pause
    registration = _as_registration(content, request, header, peer)
    if content.unchanged and not state.table.holds_topics_of(registration):
        content, excesses = yield from _content(state, request, header, now, None, 0)
        registration = _as_registration(content, request, header, peer)
    return registration, excesses


def _content(
    state: State,
    request: RemotingCommand,
    header: RegisterBrokerRequestHeader,
    now: float,
    previous: BodyRecord | None,
    crc: int,
) -> Generator[None, None, tuple[RegisteredTopics, tuple[Excess, ...]]]:
    inflated = state.config.inflated_max_length
    try:
        content = yield from read_registered_topics(
            request.body,
            compressed=header.compressed,
            version=request.version,
            wall_ms=state.wall_ms(now),
            previous=previous,
            crc=crc,
            max_inflated=inflated if inflated > 0 else sys.maxsize,
        )
    except ChecksumError:
        raise
    except LimitExceededError as error:
        if error.limit != inflated:
            raise RegistrationBodyError(str(error)) from error
        what = f"a registration of more than {inflated} bytes"
        raise LimitReachedError(Limit.INFLATED_LENGTH, inflated, what) from error
    except DecodeError as error:
        raise RegistrationBodyError(str(error)) from error
    return fit_body(state.config, content)


def _as_registration(
    content: RegisteredTopics,
    request: RemotingCommand,
    header: RegisterBrokerRequestHeader,
    peer: Peer,
) -> Registration:
    return Registration(
        cluster=require(header.cluster_name, "clusterName"),
        address=require(header.broker_addr, "brokerAddr"),
        broker_name=require(header.broker_name, "brokerName"),
        broker_id=require(header.broker_id, "brokerId"),
        data_version=content.data_version,
        connection_id=peer.connection_id,
        ha_address=header.ha_server_addr,
        zone_name=(request.ext_fields or {}).get(ZONE_NAME),
        timeout_ms=header.heartbeat_timeout_millis,
        enable_acting_master=header.enable_acting_master,
        topics=content.topics,
        topic_keys=content.keys,
        mappings=content.mappings,
        filter_servers=content.filter_servers,
        record=content.record,
        version=int(request.version),
        left_out=content.left_out,
    )


class RegistrationBodyError(DecodeError):
    """The body of a registration is invalid; the remark begins like Java's."""

    def __str__(self) -> str:
        return (
            "org.apache.rocketmq.remoting.exception.RemotingCommandException:"
            f" Failed to decode RegisterBrokerBody, {super().__str__()}"
        )
