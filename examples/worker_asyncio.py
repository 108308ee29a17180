"""A worker with asyncio: it finishes the messages that it handles when it gets SIGTERM or Ctrl-C.

NAMESRV_ADDR=127.0.0.1:9876 python worker_asyncio.py
"""

import asyncio
from collections.abc import Sequence

from rocketwire.aio import ConsumeConcurrentlyContext, open_push_consumer, wait_for_signal
from rocketwire.wire.message.stored import StoredMessage


async def handle(messages: Sequence[StoredMessage], _: ConsumeConcurrentlyContext) -> None:
    for message in messages:
        print("handled", (message.body or b"").decode(), flush=True)


async def main() -> None:
    async with open_push_consumer(None, "workers", {"jobs": "*"}, handle, await_termination=30.0):
        print("ready", flush=True)
        print("stopping:", (await wait_for_signal()).name, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
