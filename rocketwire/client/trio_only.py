"""Calls from asyncio or another thread are refused before anything is done: every public coroutine method of a client checks it.

Rules of this file: a class of clients has ``@trio_only()``; its public methods that are not coroutines and change what its tasks do
call ``require_trio`` themselves.
"""

from __future__ import annotations

from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar

import trio

from rocketwire.errors import NotInTrioError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Class = TypeVar("Class", bound=type[Any])


def require_trio() -> None:
    """Raises ``NotInTrioError`` unless the caller runs in a task of trio."""
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        raise NotInTrioError from None


def trio_only(*checked: str) -> Callable[[Class], Class]:
    """Have every public coroutine method that a class itself defines raise ``NotInTrioError`` outside of trio.

    Args:
        checked: methods that call ``require_trio`` themselves, which costs a fourth: those that are called for each message.
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
