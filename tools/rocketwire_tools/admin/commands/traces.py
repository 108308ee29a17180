"""Message traces: ``queryMsgTraceById``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client.admin.message_search import FOREVER
from rocketwire.client.trace.dispatcher import TRACE_TOPIC
from rocketwire_tools.admin.cli import mqadmin_options as mq
from rocketwire_tools.admin.command import Table, columns

if TYPE_CHECKING:
    from argparse import Namespace

    from rocketwire.client.admin import Admin


async def _trace(admin: Admin, args: Namespace) -> Table:
    records = await admin.messages.trace(
        args.msg_id,
        trace_topic=args.trace_topic,
        max_num=args.max_num,
        begin=args.begin_timestamp,
        end=args.end_timestamp,
    )
    headings = columns(
        "type groupName topic time:time costTime:number success storeHost "
        "retryTimes:number requestId transactionState"
    )
    rows = [
        (
            record.trace_type, record.group_name, record.topic, record.time_stamp, record.cost_time,
            record.is_success, record.store_host, record.retry_times, record.request_id,
            record.transaction_state,
        )
        for record in records
    ]  # fmt: skip
    return Table(headings, rows, failed=not rows)


COMMANDS: Final = mq.in_group(
    "messages",
    mq.admin_command(
        "queryMsgTraceById", "show who sent and who consumed a message", _trace,
        mq.option("-i --msgId", "the sender's id of the message", required=True, metavar="ID"),
        mq.option("-b --beginTimestamp", "earliest time of records", type=mq.moment, default=0),
        mq.option("-e --endTimestamp", "latest time of records", type=mq.moment, default=FOREVER),
        mq.option("-t --traceTopic", "topic of the traces", default=TRACE_TOPIC),
        mq.option("-c --maxNum", "maximum number of trace messages", type=int, default=64),
        collects=True,
    ),
)  # fmt: skip
