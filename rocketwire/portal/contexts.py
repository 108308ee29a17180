"""Context variables of a caller, for example its OpenTelemetry span, in the other thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def current_context() -> Context | None:
    """Return a copy of the current context variables; None without any."""
    context = copy_context()
    return context if len(context) else None


@coroutine
def in_context(
    context: Context, function: Callable[[], Coroutine[Any, Any, T]]
) -> Generator[Any, Any, T]:
    """Await a coroutine function with other context variables than those of the task.

    Tasks that it starts inherit these variables.
    """
    steps = context.run(function)
    resume: Callable[[Any], Any] = steps.send
    value: Any = None
    while True:
        try:
            trap = context.run(resume, value)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            value = yield trap
        except BaseException as error:  # noqa: BLE001 - passed to the coroutine
            resume, value = steps.throw, error
        else:
            resume = steps.send
