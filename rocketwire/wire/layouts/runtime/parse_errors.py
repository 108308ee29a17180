"""What a generated parser raises: each function makes the error, the parser raises it.

They keep the generated code short, and the messages the same in every layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.errors import DecodeError, LimitExceededError, TruncatedError

if TYPE_CHECKING:
    from rocketwire.wire.buffer import Buffer

Steps = tuple[tuple[str, int], ...]
"""Path and end of each field of a run, counted from the start of the run."""


def _excerpt(buf: Buffer, pos: int, end: int) -> bytes:
    return bytes(buf[pos : min(end, pos + 16)])


def short(buf: Buffer, pos: int, end: int, steps: Steps) -> TruncatedError:
    """The data ends inside a run of fixed fields."""
    left = end - pos
    path = next(path for path, reach in steps if reach > left)
    message = f"{steps[-1][1]} bytes wanted, {max(left, 0)} left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))


def bad_length(buf: Buffer, pos: int, end: int, length: int, path: str) -> DecodeError:
    """A length that is negative or passes the end."""
    excerpt = _excerpt(buf, pos, end)
    if length < 0:
        return DecodeError(f"a length of {length}", path=path or None, offset=pos, excerpt=excerpt)
    message = f"a length of {length}, {end - pos} bytes left"
    return TruncatedError(message, path=path or None, offset=pos, excerpt=excerpt)


def bad_count(
    count: int, left: int, size: int, path: str, pos: int | None = None
) -> LimitExceededError:
    """A count of elements that cannot all fit in the bytes left."""
    message = f"a count of {count} of at least {size} bytes each, {left} bytes left"
    return LimitExceededError(
        message, declared=count, limit=left // size, path=path or None, offset=pos
    )


def too_many(limit: int, path: str, pos: int | None = None) -> LimitExceededError:
    """More elements than a limit of ours allows; how many there are nobody counts."""
    message = f"more than {limit} entries"
    return LimitExceededError(
        message, declared=limit + 1, limit=limit, path=path or None, offset=pos
    )


def refused(buf: Buffer, pos: int, end: int, what: str, path: str) -> DecodeError:
    """Anything else that the layout does not allow."""
    return DecodeError(what, path=path or None, offset=pos, excerpt=_excerpt(buf, pos, end))
