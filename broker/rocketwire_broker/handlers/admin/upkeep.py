"""Upkeep of files and of what is read from them: without files there is little to do.

Limits for groups that read cold data (2001 to 2003) are kept and shown, and have no effect.

Java: ``AdminBrokerProcessor``, ``ColdDataCgCtrService``, ``PopConsumerService``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.connection.guards import exceeds
from rocketwire.messages.config_text import read_config
from rocketwire_broker.handlers.fields import text
from rocketwire_broker.handlers.names import group_problem
from rocketwire_broker.handlers.registry import handles
from rocketwire_broker.state.response import NOT_SET, SUCCESS, RefusedError, Response

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

_GROUP_READ_THRESHOLD: Final = 3_145_728
_READ_THRESHOLD: Final = 104_857_600
"""Java's ``cgColdReadThreshold`` and ``globalColdReadThreshold``."""

_LONGEST: Final = 20
_READ_AHEAD_MODES: Final = frozenset({"0", "1"})
_ROCKSDB_CONFIGS: Final = frozenset({"topics", "subscriptiongroups", "consumeroffsets"})
_ENGINES: Final = frozenset({"R", "F"})


@handles(
    RequestCode.TRIGGER_DELETE_FILES,
    RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
    RequestCode.CLEAN_UNUSED_TOPIC,
    RequestCode.DELETE_EXPIRED_COMMITLOG,
    RequestCode.RESET_MASTER_FLUSH_OFFSET,
)
def nothing_to_do(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    return SUCCESS


@handles(RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG)
def limit_cold_reads(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """2001: bytes of cold data that groups may read, as lines; invalid ones are ignored."""
    limits, response = broker.cold_read_limits, SUCCESS
    for group, limit in read_config(request.body or b"").items():
        if not limit.isdecimal() or len(limit) >= _LONGEST or group_problem(group) is not None:
            continue
        if group in limits or not exceeds(len(limits) + 1, broker.config.max_cold_read_limits):
            limits[group] = int(limit)
        else:
            response = Response(ResponseCode.SYSTEM_ERROR, "too many limits of cold data")
    return response


@handles(RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG)
def end_cold_read_limit(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    broker.cold_read_limits.pop((request.body or b"").decode("utf-8", "replace"), None)
    return SUCCESS


@handles(RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
def get_cold_reads(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """2003: the limits of all groups; nothing was read from a disk."""
    values = {
        "runtimeTable": {},
        "configTable": broker.cold_read_limits,
        "cgColdReadThreshold": _GROUP_READ_THRESHOLD,
        "globalColdReadThreshold": _READ_THRESHOLD,
        "globalAcc": 0,
    }
    return Response(body=(json.dumps(values, separators=(",", ":")).encode(),))


@handles(RequestCode.SET_COMMITLOG_READ_MODE)
def set_read_ahead(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    mode = (request.ext_fields or {}).get("READ_AHEAD_MODE", "")
    if mode in _READ_AHEAD_MODES:
        return Response(remark=f"set commitlog readahead mode success, mode: {mode}")
    if mode.isdecimal():
        remark = "set commitlog readahead mode param value error"
        raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
    raise RefusedError(ResponseCode.SYSTEM_ERROR, "set commitlog readahead mode failed")


@handles(RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS)
def check_queues(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    """354: compare queues in files and in RocksDB; Java's answer means that the check has begun."""
    return Response(remark=NOT_SET, body=(b'{"checkStatus":2}',))


@handles(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON)
def export_settings(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    names = text(request.ext_fields or {}, "configType").split(";")
    for name in filter(None, names):
        if name.strip().lower() not in _ROCKSDB_CONFIGS:
            remark = f"java.lang.IllegalArgumentException: Unknown config type: {name}"
            raise RefusedError(ResponseCode.SYSTEM_ERROR, remark)
    return Response(remark="export done.")


@handles(RequestCode.POP_ROLLBACK)
def export_pops(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    return Response(remark=NOT_SET)


@handles(RequestCode.SWITCH_TIMER_ENGINE)
def switch_timers(broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> Response:
    if (request.ext_fields or {}).get("E_T") not in _ENGINES:
        raise RefusedError(ResponseCode.INVALID_PARAMETER, "param error")
    remark = "timerWheelEnable or timerRocksDBEnable is false, can not switch the timer engine"
    raise RefusedError(ResponseCode.INVALID_PARAMETER, remark)
