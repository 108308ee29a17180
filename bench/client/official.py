"""``PYTHON bench/client/official.py PROXY TOPIC``: Apache's Python SDK as a program.

It is a file of its own, because it runs in an environment with ``rocketmq-python-client`` and without
this project. The SDK speaks gRPC with Java's proxy, and the proxy with the broker. The commands on
stdin are ``sync`` and ``async`` of ``bench.client.ours``. ``push`` is missing: the proxy gives a new
group only messages that are sent later.
"""

from __future__ import annotations

import importlib
import sys
from collections import deque
from typing import Any

BODY = b"x" * 1024
IN_FLIGHT = 16


def say(word: str) -> None:
    """Print a word for the benchmark."""
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the commands on stdin until it ends."""
    rocketmq: Any = importlib.import_module("rocketmq")
    proxy, topic = sys.argv[1:3]
    config = rocketmq.ClientConfiguration(proxy, rocketmq.Credentials(), request_timeout=60)
    producer = rocketmq.Producer(config, (topic,))
    producer.startup()

    def message() -> Any:
        new = rocketmq.Message()
        new.topic, new.body = topic, BODY
        return new

    while line := sys.stdin.readline():
        verb, count = line.split()[0], int(line.split()[1])
        say("begun")
        if verb == "sync":
            for _ in range(count):
                producer.send(message())
        else:
            waiting: deque[Any] = deque()
            for _ in range(count):
                if len(waiting) == IN_FLIGHT:
                    waiting.popleft().result()
                waiting.append(producer.send_async(message()))
            while waiting:
                waiting.popleft().result()
        say("done")


if __name__ == "__main__":
    main()
