"""``produce``: sends a message for each line of stdin, or generated messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.actions.produce import OUTCOMES, produce
from rocketwire_tools.admin.cli.arguments import property_pair
from rocketwire_tools.admin.command import Command
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    import argparse

_EPILOG: Final = """\
Each acknowledged message is written as one JSON object on a line, in the order of the input:
  {"status":"SEND_OK","msgId":...,"offsetMsgId":...,"brokerName":...,"queueId":...,
   "queueOffset":...}
--transaction adds "transactionState". With --oneway the status is "ONEWAY" and only "msgId" is set.

If a topic has several brokers and one does not respond within half of --request-timeout, the
message is sent to another broker (both may store it); the first one is avoided for 30 seconds.

Empty lines are skipped, because RocketMQ has no empty messages. The program ends at the first
message that cannot be sent. It waits for requests in flight and then reports that message, further
messages without acknowledgement, and the first message that was not sent. If a later message was
stored, the failed ones before it have lines too: {"status":"FAILED",...,"error":...}. SIGINT and
SIGTERM end the program in the same way (exit status 130 and 143).

examples:
  seq 10 | rocketwire-admin produce -n localhost:9876 -t orders --tag new
  rocketwire-admin produce -n localhost:9876 -t orders --count 1000 --size 1024 --batch 32
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-t", "--topic", required=True, help="name of the topic")
    add("-g", "--group", default="rocketwire-admin-produce", help="producer group")
    add("--tag", "-c", dest="tag", help="tag, for filters of consumers")
    add("--key", "-k", action="append", default=[], help="key, for message queries; repeatable")
    add(
        "--property",
        "-p",
        action="append",
        default=[],
        type=property_pair,
        metavar="NAME=VALUE",
        help="user property; repeatable",
    )
    add(
        "--delay-level",
        type=positive,
        metavar="N",
        help="delay level of the broker (default levels: 1 to 18; a larger number means the last)",
    )
    add(
        "--batch", type=positive, metavar="N", help="send up to N available messages in one request"
    )
    add("--oneway", action="store_true", help="send without waiting for a response")
    add("--order-key", metavar="K", help="send to the queue of this key, one message at a time")
    add(
        "--transaction",
        choices=list(OUTCOMES),
        help="send half messages and end them like this; also the response to checks of brokers",
    )
    add("--count", type=positive, metavar="N", help="send N generated messages instead of stdin")
    add(
        "--size",
        type=positive,
        metavar="B",
        help="size of a generated message in bytes (default 100)",
    )
    add(
        "--in-flight",
        type=positive,
        default=16,
        metavar="N",
        help="maximum concurrent requests (default 16; always 1 with --order-key)",
    )


COMMANDS: Final = (
    Command(
        name="produce",
        help="send a message for each line of stdin, or generated messages",
        add_arguments=_arguments,
        run=produce,
        epilog=_EPILOG,
        group="messages",
        streams=True,
    ),
)
