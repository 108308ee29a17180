"""``python -m tests.java.facades.forking NAMESRV TOPIC [reopen]``: a producer, used after a fork.

Parent and child print what they saw, as ``who: result``. The child first prints how many connected
sockets it has of its parent.
"""

import os
import socket
import sys
from typing import Any

from rocketwire.client import Message
from rocketwire.errors import ClientForkedError
from rocketwire.sync import Producer, open_producer


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def count_sockets() -> int:
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as copy:
                is_tcp = copy.family in (socket.AF_INET, socket.AF_INET6)
                count += is_tcp and bool(copy.getpeername())
        except OSError:
            continue
    return count


def use(producer: Producer, who: str, topic: str) -> None:
    try:
        result = producer.send(Message(topic, who.encode()), within=60)
    except ClientForkedError:
        say(f"{who}: ClientForkedError")
    else:
        say(f"{who}: {result.status.name}")


def main(name_server: str, topic: str, *options: str) -> None:
    named: dict[str, Any] = {"reopen_after_fork": True} if "reopen" in options else {}
    producer = open_producer(name_server, "forking", **named)
    for _ in range(12):  # connections of its own too
        producer.send(Message(topic, b"before"), within=60)
    pid = os.fork()
    if not pid:
        say(f"sockets: {count_sockets()}")
        use(producer, "child", topic)
        producer.close()
        os._exit(0)
    os.waitpid(pid, 0)
    use(producer, "parent", topic)
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
