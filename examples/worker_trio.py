"""A worker with trio: it finishes the messages that it handles when it gets SIGTERM or Ctrl-C.

NAMESRV_ADDR=127.0.0.1:9876 python worker_trio.py
"""

from collections.abc import Sequence

import trio

from rocketwire.client import (
    ClientConfig,
    ConsumeConcurrentlyContext,
    PushConsumerConfig,
    open_push_consumer,
    wait_for_signal,
)
from rocketwire.wire.message.stored import StoredMessage


async def handle(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
    for message in messages:
        print("handled", (message.body or b"").decode(), flush=True)


async def main() -> None:
    config = PushConsumerConfig(await_termination=30.0)
    async with open_push_consumer(
        ClientConfig.from_env(), "workers", {"jobs": "*"}, handle, config=config
    ):
        print("ready", flush=True)
        print("stopping:", (await wait_for_signal()).name, flush=True)


if __name__ == "__main__":
    trio.run(main)
