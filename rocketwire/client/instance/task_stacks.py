"""Prints the stacks of threads, and of the tasks of trio and asyncio, for an operator's request.

Java: ``UtilAll.jstack``, which prints the stacks of threads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

import trio

if TYPE_CHECKING:
    from types import FrameType

# Loops of asyncio that use clients; ``rocketwire.aio`` adds them, and this module imports none
loops: WeakSet[Any] = WeakSet()

# Packages whose functions do not say what the application does
_LIBRARIES: Final = frozenset({
    "rocketwire", "trio", "outcome", "asyncio", "uvloop", "threading", "concurrent", "selectors",
    "socket", "queue", "contextlib", "runpy",
})  # fmt: skip


class _Stack(NamedTuple):
    title: str
    functions: list[tuple[FrameType, int]]

    @property
    def is_idle(self) -> bool:
        return all(_module(frame).partition(".")[0] in _LIBRARIES for frame, _ in self.functions)

    def lines(self) -> Iterator[str]:
        yield self.title
        for frame, line in self.functions:
            yield f"    {_module(frame)}.{frame.f_code.co_name}:{line}"
        yield ""


def task_stacks() -> str:
    # Innermost function first, without its variables. Stacks with a function of the application,
    # such as a handler, come first.
    stacks = [*_thread_stacks(), *_asyncio_stacks(), *_trio_stacks()]
    stacks.sort(key=lambda stack: stack.is_idle)
    return "\n".join(line for stack in stacks for line in stack.lines())


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "?"))


def _thread_stacks() -> Iterator[_Stack]:
    # the stacks of all threads but this one, whose tasks have their own
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - there is no other way
    for ident, innermost in frames.items():
        functions: list[tuple[FrameType, int]] = []
        frame: FrameType | None = innermost
        while frame is not None:
            functions.append((frame, frame.f_lineno))
            frame = frame.f_back
        if ident != threading.get_ident():
            yield _Stack(f"thread {names.get(ident, '?')} TID: {ident:x}", functions)


def _asyncio_stacks() -> Iterator[_Stack]:
    if not loops:
        return
    from asyncio import all_tasks

    for loop in list(loops):
        for task in all_tasks(loop):
            functions: list[tuple[FrameType, int]] = []
            coroutine: Any = task.get_coro()
            while (frame := getattr(coroutine, "cr_frame", None)) is not None:
                functions.append((frame, frame.f_lineno))
                coroutine = coroutine.cr_await
            yield _Stack(f"task {task.get_name()} TID: {id(task):x}", functions[::-1])


def _trio_stacks() -> Iterator[_Stack]:
    tasks = [trio.lowlevel.current_root_task()]
    while tasks:
        task = tasks.pop()
        if task is not None:
            functions = reversed(list(task.iter_await_frames()))
            yield _Stack(f"{task.name} TID: {id(task):x}", list(functions))
            tasks += [child for nursery in task.child_nurseries for child in nursery.child_tasks]
