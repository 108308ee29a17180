"""``python -m tests.java.client.client_process NAMESRV TOPIC``: consumers in their own process, to be killed.

``GROUP MODE FILE`` (repeated) follow; MODE is ``orderly`` or ``concurrently``. It prints its client
id. Before a message counts as handled, it writes the time in milliseconds, queue id and offset to
FILE (as ``note`` of ``Peer.java``).
"""

from __future__ import annotations

import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from rocketwire.client import (
    ConsumeOrderlyStatus,
    PushConsumerConfig,
    open_client,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere
from tests.peers.client_settings import patient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from rocketwire.client import PushConsumer
    from rocketwire.client.instance.instance import ClientInstance
    from rocketwire.wire.message.stored import StoredMessage

FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


@asynccontextmanager
async def noting(
    client: ClientInstance, topic: str, group: str, mode: str, file: Path
) -> AsyncGenerator[PushConsumer]:
    """A consumer that writes down what it gets."""
    with file.open("a") as lines:

        def note(messages: Sequence[StoredMessage]) -> None:
            for one in messages:
                print(time.time_ns() // 1_000_000, one.queue_id, one.queue_offset, file=lines)
            lines.flush()

        async def concurrently(messages: Sequence[StoredMessage], _: object) -> None:
            note(messages)

        async def orderly(messages: Sequence[StoredMessage], _: object) -> ConsumeOrderlyStatus:
            note(messages)
            return ConsumeOrderlyStatus.SUCCESS

        async with open_push_consumer(
            client,
            group,
            {topic: "*"},
            concurrently if mode == "concurrently" else None,
            orderly_listener=orderly if mode == "orderly" else None,
            config=FIRST,
        ) as consumer:
            yield consumer


async def consume(name_server: str, topic: str, *groups: str) -> None:
    """Consume for ever."""
    async with open_client(patient(namesrv_addr=name_server)) as client, AsyncExitStack() as all_:
        for at in range(0, len(groups), 3):
            group, mode, file = groups[at : at + 3]
            await all_.enter_async_context(noting(client, topic, group, mode, Path(file)))
        sys.stdout.write(f"{client.client_id}\n")
        sys.stdout.flush()
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(partial(consume, *sys.argv[1:]))
