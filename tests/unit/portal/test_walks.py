"""Messages of trio's generators that a facade reads in chunks."""

from collections.abc import AsyncGenerator
from typing import Any

from rocketwire.portal.admin import MAX_CHUNK, Walk


async def test_a_walk_that_is_closed_ends_its_generator() -> None:
    ended: list[object] = []

    async def count(messages: object) -> AsyncGenerator[Any]:
        try:
            for number in range(2 * MAX_CHUNK):
                yield number
        finally:
            ended.append(messages)

    messages: Any = object()
    walk = Walk(count)
    chunk: list[Any] = await walk.next_chunk(messages)
    assert chunk == list(range(MAX_CHUNK))
    assert ended == []

    await walk.close(messages)
    await walk.close(messages)

    assert ended == [messages]
    assert await walk.next_chunk(messages) == []
