"""Prints the stacks of all tasks of this trio loop, for an operator's request.

Java: ``UtilAll.jstack``, which prints the stacks of threads.
"""

from __future__ import annotations

from collections.abc import Iterator

import trio


def task_stacks() -> str:
    """Return the stacks of all tasks, also the application's, innermost function first.

    A function is printed as module, name and line, without its variables.
    """
    return "\n".join(line for task in _tasks() for line in (*_format_task(task), ""))


def _tasks() -> Iterator[trio.lowlevel.Task]:
    tasks = [trio.lowlevel.current_root_task()]
    while tasks:
        task = tasks.pop()
        if task is not None:
            yield task
            tasks += [child for nursery in task.child_nurseries for child in nursery.child_tasks]


def _format_task(task: trio.lowlevel.Task) -> Iterator[str]:
    yield f"{task.name} TID: {id(task):x}"
    for frame, line in reversed(list(task.iter_await_frames())):
        module = frame.f_globals.get("__name__", "?")
        yield f"    {module}.{frame.f_code.co_name}:{line}"
