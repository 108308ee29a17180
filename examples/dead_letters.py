"""List the dead letters of a group; with --resend, send each of them to its topic again.

NAMESRV_ADDR=127.0.0.1:9876 python dead_letters.py bookkeeping [--resend]

The group ``resend`` notes how far it has read, so that a second call resends nothing twice.
"""

import sys

from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.sync import Message, open_client, open_lite_pull_consumer, open_producer


def main(group: str, *, resend: bool) -> None:
    first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    with (
        open_client(None) as client,
        open_producer(client, "resend") as producer,
        open_lite_pull_consumer(
            client, "resend", auto_commit=False, consume_from_where=first
        ) as consumer,
    ):
        consumer.subscribe(f"%DLQ%{group}")
        while polled := consumer.poll(within=5.0):
            for letter in polled.messages:
                properties, body = letter.properties or {}, letter.body or b""
                topic, keys = properties.get("RETRY_TOPIC") or "?", properties.get("KEYS") or ""
                print(topic, keys, body.decode(errors="replace"), flush=True)
                if resend:
                    producer.send(Message(topic, body, keys=keys.split()))
            if resend:
                consumer.commit()


if __name__ == "__main__":
    main(sys.argv[1], resend="--resend" in sys.argv[2:])
