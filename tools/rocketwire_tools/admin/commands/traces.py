"""What clients recorded of a message: ``queryMsgTraceById``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.message_search import FOREVER
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire_tools.admin.cli.mqadmin_options import admin_command, moment, option
from rocketwire_tools.admin.command import Column, Kind, Table

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin

_NUMBER: Final = Kind.NUMBER


async def _trace(admin: Admin, wanted: Namespace) -> Table:
    found = await admin.messages.trace(
        wanted.msg_id,
        trace_topic=wanted.trace_topic,
        max_num=wanted.max_num,
        begin=wanted.begin_timestamp,
        end=wanted.end_timestamp,
    )
    columns = (
        "type", "groupName", "topic", Column("time", Kind.TIME), Column("costTime", _NUMBER), "success", "storeHost",
        Column("retryTimes", _NUMBER), "requestId", "transactionState",
    )  # fmt: skip
    rows = [
        (
            one.trace_type, one.group_name, one.topic, one.time_stamp, one.cost_time, one.is_success, one.store_host,
            one.retry_times, one.request_id, one.transaction_state,
        )
        for one in found
    ]  # fmt: skip
    return Table(columns, rows, failed=not rows)


COMMANDS: Final = (
    admin_command(
        "queryMsgTraceById", "tell who sent a message and who handled it", _trace,
        option("-i --msgId", "the sender's id of the message", required=True, metavar="ID"),
        option("-b --beginTimestamp", "recorded not before this", type=moment, default=0),
        option("-e --endTimestamp", "recorded not after this", type=moment, default=FOREVER),
        option("-t --traceTopic", "where clients record", default=TRACE_TOPIC),
        option("-c --maxNum", "most messages of records", type=int, default=64), group="messages", collects=True,
    ),
)  # fmt: skip
