"""``python -m tests.java.facades.forking NAMESRV TOPIC HOW [reopen]``: a producer, used after forks.

HOW is ``os.fork`` or a start method of multiprocessing. Parent and child print what they saw, as
``who: result``. The child first prints how many connected sockets it has of its parent.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
from typing import Any

from rocketwire.client import Message
from rocketwire.errors import ClientForkedError
from rocketwire.sync import Producer, open_producer

producer: Producer | None = None


def say(line: str) -> None:
    """Tell whoever started this, in one piece."""
    os.write(1, f"{line}\n".encode())


def connected_sockets() -> int:
    """Number of connected TCP sockets of this process."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as copy:
                is_tcp = copy.family in (socket.AF_INET, socket.AF_INET6)
                count += is_tcp and bool(copy.getpeername())
        except OSError:
            continue
    return count


def use(who: str, topic: str) -> None:
    """Send a message, and print the result."""
    if producer is None:
        say(f"{who}: no producer")
        return
    try:
        result = producer.send(Message(topic, who.encode()), within=60)
    except ClientForkedError:
        say(f"{who}: ClientForkedError")
    else:
        say(f"{who}: {result.status.name}")


def child(topic: str) -> None:
    """What a child does."""
    say(f"sockets: {connected_sockets()}")
    use("child", topic)
    if producer is not None:
        producer.close()


def main(name_server: str, topic: str, how: str, *rest: str) -> None:
    """Open the producer, send, fork, send again in both."""
    global producer
    named: dict[str, Any] = {"reopen_after_fork": True} if "reopen" in rest else {}
    producer = open_producer(name_server, "forking", **named)
    for _ in range(12):  # connections of its own too
        producer.send(Message(topic, b"before"), within=60)
    if how == "os.fork":
        pid = os.fork()
        if not pid:
            child(topic)
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)
    else:
        context: Any = multiprocessing.get_context(how)
        process = context.Process(target=child, args=(topic,))
        process.start()
        process.join()
    use("parent", topic)
    producer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
