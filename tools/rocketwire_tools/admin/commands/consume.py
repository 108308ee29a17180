"""``consume``: a topic's messages as lines on stdout."""

from __future__ import annotations

import argparse
from typing import Final

from rocketwire_tools.admin.actions.consume import consume
from rocketwire_tools.admin.cli.arguments import seconds
from rocketwire_tools.admin.command import Command
from rocketwire_tools.numbers import positive

_EPILOG: Final = """\
One JSON object to a line is written for each message:
  {"msgId":...,"topic":...,"tags":...,"keys":...,"body":...,"brokerName":...,"queueId":...,"queueOffset":...,
   "reconsumeTimes":...,"properties":{...}}
A body that is no UTF-8 is null, and "bodyBase64" has it.

What was printed counts as consumed, and nothing else: a message that --count leaves out, or that nobody read, comes to
the group's other members, or next time.  SIGINT, SIGTERM and the end of whoever reads the output (| head) end it in good order,
with offsets stored: exit status 0.  With --timeout and --count together the exit status is 1 if there were fewer messages.

examples:
  rocketwire-admin consume -n localhost:9876 -t orders -g watchers --filter 'new || paid'
  rocketwire-admin consume -n localhost:9876 -t orders -g sums --filter "sql: a > 5 AND b = 'x'" --from first --timeout 10
  rocketwire-admin consume -n localhost:9876 -t orders -g once --count 1 | jq -r .body
"""


def _start(text: str) -> str:
    if text not in ("first", "last") and not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is neither first nor last nor milliseconds")
    return text


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-t", "--topic", required=True, help="what to consume")
    add(
        "-g", "--group", required=True, help="group of the consumer; its members share the messages"
    )
    add(
        "--filter",
        metavar="EXPR",
        help="tags, as 'a || b', or SQL92 on properties after sql:, as \"sql: a > 5\"",
    )
    kinds = parser.add_argument_group("kinds of consumers (without any: push, concurrent)")
    add_kind = kinds.add_argument
    add_kind("--orderly", action="store_true", help="each queue in order, locked for this member")
    add_kind(
        "--pop", action="store_true", help="pop and acknowledge each; no queue belongs to anybody"
    )
    add_kind(
        "--broadcast",
        action="store_true",
        help="all messages, whoever else has them; offsets are kept in ~/.rocketmq_offsets",
    )
    add_kind(
        "--pull",
        action="store_true",
        help="lite pull: polled, and committed behind what was printed",
    )
    add(
        "--from",
        dest="start",
        type=_start,
        metavar="first|last|MILLIS",
        help="where a group begins that has no offsets yet: at the oldest message, behind the newest, or at a time, in "
        "milliseconds since 1970; without it where brokers have Java's consumers begin: behind the newest, or at the start of a young topic",
    )
    add("--count", type=positive, metavar="N", help="end after so many messages")
    add(
        "--timeout",
        type=seconds,
        metavar="S",
        help="end when no message has come for so many seconds",
    )
    add(
        "--fail-first",
        action="store_true",
        help="say of the first delivery of each message that it failed, to see it come again",
    )


COMMANDS: Final = (
    Command(
        name="consume",
        help="print the messages of a topic as they come",
        add_arguments=_arguments,
        run=consume,
        epilog=_EPILOG,
        group="messages",
        streams=True,
    ),
)
