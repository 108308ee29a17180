"""``produce``: a message for each line of stdin, or messages that are made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin.actions.produce import OUTCOMES, produce
from rocketwire_tools.admin.cli.arguments import property_pair
from rocketwire_tools.admin.command import Command
from rocketwire_tools.numbers import positive

if TYPE_CHECKING:
    import argparse

_EPILOG: Final = """\
One JSON object to a line is written for each message, in the order of the input, as soon as the broker has it:
  {"status":"SEND_OK","msgId":...,"offsetMsgId":...,"brokerName":...,"queueId":...,"queueOffset":...}
A --transaction adds "transactionState"; --oneway knows only "msgId", and its status is "ONEWAY".

Where a topic has several brokers, one that does not answer within half of --request-timeout is left alone for 30 seconds, and the
message is sent to another one; it may be stored by both.

An empty line is skipped: RocketMQ has no empty messages.  The first message that cannot be sent ends the program, which says
which one that was, which others have no acknowledgement, and from which on none was sent; those that are on their way are still
waited for.  If one of them was stored, those before it that failed have lines too: {"status":"FAILED",...,"error":...}.  SIGINT and SIGTERM do the same (exit status 130 and 143).

examples:
  seq 10 | rocketwire-admin produce -n localhost:9876 -t orders --tag new
  rocketwire-admin produce -n localhost:9876 -t orders --count 1000 --size 1024 --batch 32 > sent.jsonl
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-t", "--topic", required=True, help="where to send them")
    add("-g", "--group", default="rocketwire-admin-produce", help="group of the producer")
    add("--tag", "-c", dest="tag", help="what consumers filter by")
    add("--key", "-k", action="append", default=[], help="what operators find it by; repeatable")
    add(
        "--property",
        "-p",
        action="append",
        default=[],
        type=property_pair,
        metavar="NAME=VALUE",
        help="a property of the application's; repeatable",
    )
    add(
        "--delay-level",
        type=positive,
        metavar="N",
        help="one of the broker's delays, 1 to 18 where it was not told others; it takes a number above for its last",
    )
    add(
        "--batch",
        type=positive,
        metavar="N",
        help="send up to so many in one request, of those that have come",
    )
    add("--oneway", action="store_true", help="ask the broker for no answer")
    add("--order-key", metavar="K", help="send to the queue of this key, one after the other")
    add(
        "--transaction",
        choices=list(OUTCOMES),
        help="as half messages, of which this becomes; also the answer when brokers ask",
    )
    add("--count", type=positive, metavar="N", help="make up so many messages; stdin is not read")
    add("--size", type=positive, metavar="B", help="bytes of each of those (default 100)")
    add(
        "--in-flight",
        type=positive,
        default=16,
        metavar="N",
        help="most requests at once (default 16; with --order-key always 1)",
    )


COMMANDS: Final = (
    Command(
        name="produce",
        help="send messages: one for each line of stdin, or made up",
        add_arguments=_arguments,
        run=produce,
        epilog=_EPILOG,
        group="messages",
        streams=True,
    ),
)
