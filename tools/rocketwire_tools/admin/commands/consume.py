"""``consume``: prints the messages of a topic as JSON lines."""

from __future__ import annotations

import argparse
from typing import Final

from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.actions.consume import consume
from rocketwire_tools.cli.arguments import seconds
from rocketwire_tools.cli.command import Command
from rocketwire_tools.numbers import positive
from rocketwire_tools.times import FORMS, parse_time

_EPILOG: Final = """\
Each message is written as one JSON object on a line:
  {"msgId":...,"topic":...,"tags":...,"keys":...,"body":...,"brokerName":...,"queueId":...,
   "queueOffset":...,"reconsumeTimes":...,"properties":{...}}
If the body is not UTF-8, "body" is null and "bodyBase64" has the body.

Only printed messages count as consumed. A message beyond --count, or one that the reader of the
output did not accept, is delivered to other members or next time. SIGINT, SIGTERM and a closed
output (| head) end the program with stored offsets and exit status 0. If --timeout and --count are
both set, the exit status is 1 if fewer messages arrived.

examples:
  rocketwire-admin consume -n localhost:9876 -t orders -g watchers --filter 'new || paid'
  rocketwire-admin consume -n localhost:9876 -t orders -g sums \\
      --filter "sql: a > 5 AND b = 'x'" --from first --timeout 10
  rocketwire-admin consume -n localhost:9876 -t orders -g once --count 1 | jq -r .body
"""


def start_of_group(text: str) -> str:
    """Read ``first``, ``last`` or a time, which becomes milliseconds since 1970."""
    if text in ("first", "last"):
        return text
    try:
        return str(parse_time(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: must be first, last, {FORMS}") from error


_OPTIONS: Final = (
    mq.option("-t --topic", "name of the topic", required=True),
    mq.option("-g --group", "consumer group; its members share the messages", required=True),
    mq.option("--filter", "tags such as 'a || b', or SQL92 on properties such as \"sql: a > 5\"",
        metavar="EXPR"),
    mq.option_group(
        "type of consumer (default: push, concurrent)",
        mq.option("--orderly", "consume each queue in order, locked for this member", switch=True),
        mq.option("--pop", "pop and acknowledge each message; queues have no owner", switch=True),
        mq.option("--broadcast",
            "receive all messages; offsets are stored in ~/.rocketmq_offsets", switch=True),
        mq.option("--pull", "lite pull: poll messages and commit after printing", switch=True),
    ),
    mq.option("--from",
        "start of a group without stored offsets: the oldest message, after the newest, or a "
        f"time: {FORMS} (default as in Java: after the newest message, or the start of a new "
        "topic)",
        dest="start", type=start_of_group, metavar="first|last|TIME"),
    mq.option("--count", "end after N messages", type=positive, metavar="N"),
    mq.option("--timeout", "end after S seconds without a message", type=seconds, metavar="S"),
    mq.option("--fail-first", "fail the first delivery of each message, to see its redelivery",
        switch=True),
)  # fmt: skip

COMMANDS: Final = (
    Command(name="consume", help="print the messages of a topic as they arrive", options=_OPTIONS,
        run=consume, epilog=_EPILOG, group="messages", streams=True),
)  # fmt: skip
