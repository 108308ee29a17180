"""``PYTHON bench/client/cpp.py NAMESRV TOPIC``: the binding of Apache's C++ client as a program.

It is a file of its own, because it runs in an environment with ``rocketmq`` 0.4.4 and without this
project. Its wheel has the library of C++, which speaks the remoting protocol. The only command on
stdin is ``sync`` of ``bench.client.ours``.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

BODY = b"x" * 1024


def say(word: str) -> None:
    """Print a word for the benchmark."""
    sys.stdout.write(word + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the commands on stdin until it ends."""
    client: Any = importlib.import_module("rocketmq.client")
    name_server, topic = sys.argv[1:3]
    producer = client.Producer("bench-cpp")
    producer.set_namesrv_addr(name_server)
    producer.start()
    while line := sys.stdin.readline():
        say("begun")
        for _ in range(int(line.split()[1])):
            message = client.Message(topic)
            message.set_body(BODY)
            producer.send_sync(message)
        say("done")


if __name__ == "__main__":
    main()
