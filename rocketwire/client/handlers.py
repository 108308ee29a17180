"""Functions of the application that the clients call: which of them can be used is said when they are given.

Rules of this file: a function that can only be called synchronously is refused where a coroutine function belongs, and the other way
round; one that does not show what it is, as a lambda, is checked at each call (``Awaited``).

Java: the compiler.
"""

# What an application gives may be anything.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rocketwire.client.arguments import shown
from rocketwire.errors import IllegalHandlerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

F = TypeVar("F", bound="Callable[..., Any]")


def async_handler(name: str, handler: F, arguments: str) -> F:
    """A function that returns an awaitable: the one that was given, or one that calls it and checks the result.

    Args:
        name: of the argument, for the error.
        handler: a coroutine function, an object with an async ``__call__``, or another callable that may return an awaitable.
        arguments: names of the positional arguments that it is called with, as ``messages, context``.

    Raises:
        IllegalHandlerError: it is no function, a function that is not async, a generator, or it takes other arguments.
    """
    example = f"write async def handle({arguments})"
    check_callable(name, handler, arguments)
    function = _function_of(handler)
    if _is_async(function):
        return handler
    refusal = _refusal(function)
    if refusal:
        raise IllegalHandlerError(f"{name}: {shown(handler)} is {refusal}; {example}")
    return cast("F", Awaited(name, handler, example))


def sync_function(name: str, function: F, arguments: str) -> F:
    """A function that is called and not awaited: the one that was given.

    Raises:
        IllegalHandlerError: it is no function, takes other arguments, or is a coroutine function, whose body would never run.
    """
    check_callable(name, function, arguments)
    if _is_async(_function_of(function)):
        raise IllegalHandlerError(
            f"{name}: {shown(function)} is a coroutine function, and it is not awaited;"
            f" write def f({arguments})"
        )
    return function


def check_callable(name: str, function: object, arguments: str) -> None:
    """Check that something can be called with so many positional arguments.

    Raises:
        IllegalHandlerError: it cannot.
    """
    if inspect.iscoroutine(function):
        function.close()
        raise IllegalHandlerError(
            f"{name}: {function.__qualname__}() is a coroutine; give the function itself, without ()"
        )
    if not callable(function):
        text = "None" if function is None else f"{shown(function)} ({type(function).__name__})"
        raise IllegalHandlerError(f"{name}: expected a function of ({arguments}), got {text}")
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the function, not whether there is one
    plain = inspect.isroutine(function) or inspect.isclass(function) or isinstance(function, functools.partial)  # fmt: skip
    if not plain and not inspect.isfunction(call):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of a function in C, which does not tell
        return
    try:
        signature.bind(*arguments.split(","))
    except TypeError as error:
        raise IllegalHandlerError(
            f"{name}: {shown(function)} is called with ({arguments}): {error}"
        ) from error


class Awaited:
    """A callable whose result is awaited, of which nobody knows before the first call whether it can be."""

    __slots__ = ("_example", "_handler", "_name")

    def __init__(self, name: str, handler: Callable[..., Any], example: str) -> None:
        """Args: name: of the argument.  handler: the callable.  example: what to write instead, for the error."""
        self._name = name
        self._handler = handler
        self._example = example

    async def __call__(self, *arguments: object) -> Any:
        """What the handler's awaitable results in.

        Raises:
            IllegalHandlerError: it returned something else; the call itself has taken place.
        """
        returned: Awaitable[Any] = self._handler(*arguments)
        if not inspect.isawaitable(returned):
            raise IllegalHandlerError(
                f"{self._name}: {shown(self._handler)} returned {shown(returned)},"
                f" which cannot be awaited; {self._example}"
            )
        return await returned


def _function_of(handler: Any) -> Any:
    """The function that a call ends in: without ``functools.partial``, method, callable object and ``staticmethod``."""
    while True:
        if isinstance(handler, functools.partial):
            handler = handler.func
        elif isinstance(handler, staticmethod) or inspect.ismethod(handler):
            handler = handler.__func__
        elif inspect.isfunction(handler) or inspect.isclass(handler) or _is_async(handler):
            return handler
        else:
            call = getattr(type(handler), "__call__", None)  # noqa: B004 - the function, not whether there is one
            if not inspect.isfunction(call) and not isinstance(call, (functools.partial, staticmethod)):  # fmt: skip
                return handler
            handler = call


def _is_async(function: object) -> bool:
    """Whether a call is known to return an awaitable."""
    if inspect.isclass(function):
        return hasattr(function, "__await__")
    code = getattr(function, "__code__", None)
    flags = getattr(code, "co_flags", 0)
    return inspect.iscoroutinefunction(function) or (
        isinstance(flags, int) and bool(flags & inspect.CO_ITERABLE_COROUTINE)
    )


def _refusal(function: Any) -> str:
    """Why a call cannot return an awaitable; empty where it may."""
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
    original = inspect.unwrap(function)  # of a decorated function
    if original is not function and _is_async(_function_of(original)):
        return ""
    return "not async, so that it cannot be awaited"
