"""Checks of the functions that an application passes to a client.

A function is rejected when it is passed: a sync function where a coroutine function is needed, and
vice versa. If a function does not show what it returns, as a lambda, each call is checked.
"""

# An application can pass any object.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from rocketwire.client.arguments import shown
from rocketwire.errors import IllegalHandlerError, LocalProtocolError

F = TypeVar("F", bound="Callable[..., Any]")


def async_handler(name: str, handler: F, arguments: str) -> F:
    """Return ``handler`` if it returns an awaitable, or a wrapper that checks each result.

    ``name`` and ``arguments``, such as ``messages, context``, are for errors.
    ``IllegalHandlerError``: it is not a function, not async, a generator, or has other parameters.
    """
    example = f"write async def handle({arguments})"
    check_callable(name, handler, arguments)
    function = _unwrap_function(handler)
    if _is_async(function):
        return handler
    reason = _find_reason_against(function)
    if reason:
        raise IllegalHandlerError(f"{name}: {shown(handler)} is {reason}; {example}")

    async def call_and_check(*call_arguments: object) -> Any:
        result: Awaitable[Any] = handler(*call_arguments)
        if not inspect.isawaitable(result):
            raise IllegalHandlerError(
                f"{name}: {shown(handler)} returned {shown(result)},"
                f" which cannot be awaited; {example}"
            )
        return await result

    return cast("F", call_and_check)


def sync_function(name: str, function: F, arguments: str) -> F:
    check_callable(name, function, arguments)
    if _is_async(_unwrap_function(function)):
        raise IllegalHandlerError(
            f"{name}: {shown(function)} is a coroutine function, and it is not awaited;"
            f" write def f({arguments})"
        )
    return function


def check_listeners(
    check: Callable[[str, Any, str], Any], listener: Any, orderly_listener: Any, *, orderly: bool
) -> tuple[Any, Any]:
    # ``check`` is ``async_handler`` or ``sync_function``
    if listener is not None and (orderly or orderly_listener is not None):
        raise LocalProtocolError(
            "give one handler: either listener, or orderly_listener for messages in order;"
            " orderly=True is for iteration"
        )
    if listener is not None:
        listener = check("handler (listener)", listener, "messages, context")
    if orderly_listener is not None:
        name = "handler (orderly_listener)"
        orderly_listener = check(name, orderly_listener, "messages, context")
    return listener, orderly_listener


def check_callable(name: str, function: object, arguments: str) -> None:
    if inspect.iscoroutine(function):
        function.close()
        raise IllegalHandlerError(
            f"{name}: {function.__qualname__}() is a coroutine; pass the function, without ()"
        )
    if not callable(function):
        text = "None" if function is None else f"{shown(function)} ({type(function).__name__})"
        raise IllegalHandlerError(f"{name}: expected a function of ({arguments}), got {text}")
    # The function, not whether there is one.
    call = getattr(type(function), "__call__", None)  # noqa: B004 - Python looks at the class too
    has_signature = (
        inspect.isroutine(function)
        or inspect.isclass(function)
        or isinstance(function, functools.partial)
    )
    if not has_signature and not inspect.isfunction(call):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a C function without signature
        return
    try:
        signature.bind(*arguments.split(","))
    except TypeError as error:
        raise IllegalHandlerError(
            f"{name}: {shown(function)} is called with ({arguments}): {error}"
        ) from error


def _unwrap_function(handler: Any) -> Any:
    while True:
        if isinstance(handler, functools.partial):
            handler = handler.func
        elif isinstance(handler, staticmethod) or inspect.ismethod(handler):
            handler = handler.__func__
        elif inspect.isfunction(handler) or inspect.isclass(handler) or _is_async(handler):
            return handler
        else:
            # The function, not whether there is one.
            call = getattr(type(handler), "__call__", None)  # noqa: B004 - Python looks at the class too
            if not inspect.isfunction(call) and not isinstance(
                call, (functools.partial, staticmethod)
            ):
                return handler
            handler = call


def _is_async(function: object) -> bool:
    if inspect.isclass(function):
        return hasattr(function, "__await__")
    code = getattr(function, "__code__", None)
    flags = getattr(code, "co_flags", 0)
    return inspect.iscoroutinefunction(function) or (
        isinstance(flags, int) and bool(flags & inspect.CO_ITERABLE_COROUTINE)
    )


def _find_reason_against(function: Any) -> str:
    if inspect.isasyncgenfunction(function):
        return "an async generator function, which has a yield in it and cannot be awaited"
    if inspect.isgeneratorfunction(function):
        return "a generator function, which cannot be awaited"
    if inspect.isclass(function):
        return "a class whose instances cannot be awaited"
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        return ""
    returns = str(function.__annotations__.get("return", ""))
    if any(name in returns for name in ("Awaitable", "Coroutine", "Any")):
        return ""
    original = inspect.unwrap(function)  # the function without decorators
    if original is not function and _is_async(_unwrap_function(original)):
        return ""
    return "not async, so that it cannot be awaited"
