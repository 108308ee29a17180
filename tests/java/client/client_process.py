"""``python -m tests.java.client.client_process``: consumers in their own process, to be killed.

Arguments are NAMESRV TOPIC, then GROUP MODE FILE (repeated); MODE is ``orderly`` or
``concurrently``. It prints its client id. Before a message counts as handled, it writes the time in
milliseconds, queue id and offset to FILE (as ``note`` of ``Peer.java``).
"""

import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import trio

from rocketwire.client import (
    ConsumeOrderlyStatus,
    PushConsumer,
    PushConsumerConfig,
    open_client,
    open_push_consumer,
)
from rocketwire.client.instance.instance import ClientInstance
from rocketwire.messages.enums import ConsumeFromWhere
from rocketwire.wire.message.stored import StoredMessage
from tests.peers.client_settings import patient

FIRST = PushConsumerConfig(consume_from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET)


@asynccontextmanager
async def note_deliveries(
    client: ClientInstance, topic: str, group: str, mode: str, file: Path
) -> AsyncGenerator[PushConsumer]:
    with file.open("a") as lines:

        def note(messages: Sequence[StoredMessage]) -> None:
            for message in messages:
                place = (message.queue_id, message.queue_offset)
                print(time.time_ns() // 1_000_000, *place, file=lines)
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


async def note(name_server: str, topic: str, *groups: str) -> None:
    async with open_client(patient(namesrv_addr=name_server)) as client, AsyncExitStack() as all_:
        for group, mode, file in zip(groups[::3], groups[1::3], groups[2::3], strict=True):
            await all_.enter_async_context(note_deliveries(client, topic, group, mode, Path(file)))
        sys.stdout.write(f"{client.client_id}\n")
        sys.stdout.flush()
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(partial(note, *sys.argv[1:]))
