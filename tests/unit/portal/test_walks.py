"""Generators that are read in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.portal.admin import MAX_CHUNK, Walk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

MESSAGES: Any = object()


class Numbers:
    """A generator of ``count`` numbers, which then may fail."""

    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.is_closed = False
        self._count = count
        self._error = error

    async def __call__(self, messages: object) -> AsyncGenerator[Any]:
        assert messages is MESSAGES
        try:
            for number in range(self._count):
                yield number
            if self._error is not None:
                raise self._error
        finally:
            self.is_closed = True


async def test_chunks_have_all_items_in_order_and_the_last_one_is_empty() -> None:
    walk = Walk(Numbers(2 * MAX_CHUNK + 1))

    chunks: list[Any] = [await walk.next_chunk(MESSAGES) for _ in range(4)]

    assert [len(chunk) for chunk in chunks] == [MAX_CHUNK, MAX_CHUNK, 1, 0]
    assert [item for chunk in chunks for item in chunk] == list(range(2 * MAX_CHUNK + 1))


async def test_a_walk_that_is_closed_ends_its_generator() -> None:
    numbers = Numbers(2 * MAX_CHUNK)
    walk = Walk(numbers)
    await walk.next_chunk(MESSAGES)
    assert not numbers.is_closed

    await walk.close(MESSAGES)
    await walk.close(MESSAGES)

    assert numbers.is_closed
    assert await walk.next_chunk(MESSAGES) == []


async def test_an_error_is_raised_where_it_is_met() -> None:
    walk = Walk(Numbers(1, ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        await walk.next_chunk(MESSAGES)
