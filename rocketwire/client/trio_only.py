"""Rejects calls from asyncio or another thread before anything is done.

A class of a client has ``@trio_only()``, which checks its public coroutine methods. Other public
methods that affect tasks call ``require_trio`` themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

import trio

from rocketwire.errors import NotInTrioError

Class = TypeVar("Class", bound=type[Any])


def require_trio() -> None:
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        raise NotInTrioError from None


def trio_only(*checked: str) -> Callable[[Class], Class]:
    """Let the public coroutine methods of a class raise ``NotInTrioError`` outside of trio.

    Those that are ``checked`` do it themselves, in a quarter of the time: they are called for each
    message.
    """

    def decorate(cls: Class) -> Class:
        for name, method in list(vars(cls).items()):
            if not name.startswith("_") and name not in checked and iscoroutinefunction(method):
                setattr(cls, name, _checked(method))
        return cls

    return decorate


def _checked(
    method: Callable[..., Coroutine[Any, Any, Any]],
) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(method)
    async def call(*arguments: Any, **named: Any) -> Any:
        require_trio()
        return await method(*arguments, **named)

    return call
