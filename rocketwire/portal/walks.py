"""Iterators of ``rocketwire.client`` that a facade reads in chunks: one crossing for many items."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MAX_CHUNK: Final = 256
"""Most items of a crossing."""


class Walk(Generic[T]):
    """An asynchronous generator in trio; all methods are called there."""

    def __init__(self, items: AsyncGenerator[T]) -> None:
        """Take a generator that nobody has started."""
        self._items = items

    async def next_chunk(self) -> list[T]:
        """Return the next items; none at the end.

        Cancellation: the generator ends.
        """
        chunk: list[T] = []
        async for item in self._items:
            chunk.append(item)
            if len(chunk) == MAX_CHUNK:
                break
        return chunk

    async def close(self) -> None:
        """End the generator."""
        await self._items.aclose()
