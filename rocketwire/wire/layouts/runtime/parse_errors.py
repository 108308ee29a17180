"""Errors of generated parsers; the parser raises what a function here returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer


def _excerpt(buf: Buffer, pos: int, end: int) -> bytes:
    return bytes(buf[pos : min(end, pos + 16)])


def short(buf: Buffer, pos: int, end: int, steps: tuple[tuple[str, int], ...]) -> TruncatedError:
    """The data ends inside a run of integers; ``steps`` are their paths and ends."""
    remaining = end - pos
    path = next(path for path, size in steps if size > remaining)
    message = f"{steps[-1][1]} bytes needed, {max(remaining, 0)} left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))


def bad_length(buf: Buffer, pos: int, end: int, length: int, path: str) -> DecodeError:
    """A negative length, or one that passes the end."""
    excerpt = _excerpt(buf, pos, end)
    if length < 0:
        return DecodeError(f"a length of {length}", path=path or None, offset=pos, excerpt=excerpt)
    message = f"a length of {length}, {end - pos} bytes left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=excerpt)


def bad_count(
    count: int, remaining: int, size: int, path: str, pos: int | None = None
) -> LimitExceededError:
    """A count of elements that cannot fit in the remaining bytes."""
    message = f"a count of {count} of at least {size} bytes each, {remaining} bytes left"
    return LimitExceededError(
        message, declared=count, limit=remaining // size, path=path or None, offset=pos
    )


def too_many(limit: int, path: str, pos: int | None = None) -> LimitExceededError:
    """More entries than the limit; their exact number is unknown."""
    message = f"more than {limit} entries"
    return LimitExceededError(
        message, declared=limit + 1, limit=limit, path=path or None, offset=pos
    )


def refused(buf: Buffer, pos: int, end: int, message: str, path: str) -> DecodeError:
    """Other data that the layout does not allow."""
    return DecodeError(message, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))
