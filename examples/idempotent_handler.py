"""Handle each message once, although a broker may deliver it again: note its key in the database.

NAMESRV_ADDR=127.0.0.1:9876 python idempotent_handler.py payments.db
"""

import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing

from rocketwire.sync import ConsumeConcurrentlyContext, open_push_consumer, wait_for_signal
from rocketwire.wire.message.stored import StoredMessage

TABLES = """
create table if not exists handled (key text primary key);
create table if not exists payments (amount integer not null);
"""


def key_of(message: StoredMessage) -> str:
    """Return the key that the producer has set; it is the same in every delivery and every send."""
    return (message.properties or {}).get("KEYS") or message.msg_id


def pay(database: str, message: StoredMessage) -> bool:
    """Book a payment and note its key in one transaction; return whether it was new."""
    with closing(sqlite3.connect(database)) as connection, connection:
        added = connection.execute("insert or ignore into handled values (?)", [key_of(message)])
        if added.rowcount:
            connection.execute("insert into payments values (?)", [int(message.body or b"0")])
        return bool(added.rowcount)


def main(database: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(TABLES)

    def handle(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
        for message in messages:
            print("booked" if pay(database, message) else "known", key_of(message), flush=True)

    with open_push_consumer(None, "bookkeeping", {"payments": "*"}, handle):
        print("ready", flush=True)
        wait_for_signal()


if __name__ == "__main__":
    main(sys.argv[1])
