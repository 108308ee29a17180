"""``produce``: sends a message for each line of stdin, or generated messages."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.actions.produce import OUTCOMES, produce
from rocketwire_tools.cli.arguments import property_pair
from rocketwire_tools.cli.command import Command
from rocketwire_tools.numbers import positive

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


_OPTIONS: Final = (
    mq.option("-t --topic", "name of the topic", required=True),
    mq.option("-g --group", "producer group", default="rocketwire-admin-produce"),
    mq.option("--tag -c", "tag, for filters of consumers"),
    mq.option("--key -k", "key, for message queries; repeatable", action="append", default=[]),
    mq.option("--property -p", "user property; repeatable", action="append", default=[],
        type=property_pair, metavar="NAME=VALUE"),
    mq.option("--delay-level",
        "delay level of the broker (default levels: 1 to 18; a larger number means the last)",
        type=positive, metavar="N"),
    mq.option("--batch", "send up to N available messages in one request", type=positive,
        metavar="N"),
    mq.option("--oneway", "send without waiting for a response", switch=True),
    mq.option("--order-key", "send to the queue of this key, one message at a time", metavar="K"),
    mq.option("--transaction",
        "send half messages and end them like this; also the response to checks of brokers",
        choices=list(OUTCOMES), metavar=None),
    mq.option("--count", "send N generated messages instead of stdin", type=positive, metavar="N"),
    mq.option("--size", "size of a generated message in bytes (default 100)", type=positive,
        metavar="B"),
    mq.option("--in-flight",
        "maximum concurrent requests (default 16; always 1 with --order-key)", type=positive,
        default=16, metavar="N"),
)  # fmt: skip

COMMANDS: Final = (
    Command(name="produce", help="send a message for each line of stdin, or generated messages",
        options=_OPTIONS, run=produce, epilog=_EPILOG, group="messages", streams=True),
)  # fmt: skip
