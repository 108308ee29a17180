"""Where every task of this trio loop is at the moment, for operators who ask a member for its stacks.

Java: ``UtilAll.jstack``, which tells the same of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import Iterator


def task_stacks() -> str:
    """The tasks of the loop that this is called in, the application's too: name, and innermost function first.

    Functions are told by module and line; nothing of what they hold is.
    """
    return "\n".join(line for task in _tasks() for line in (*_lines(task), ""))


def _tasks() -> Iterator[trio.lowlevel.Task]:
    waiting = [trio.lowlevel.current_root_task()]
    while waiting:
        task = waiting.pop()
        if task is not None:
            yield task
            waiting += [one for nursery in task.child_nurseries for one in nursery.child_tasks]


def _lines(task: trio.lowlevel.Task) -> Iterator[str]:
    yield f"{task.name} TID: {id(task):x}"
    for frame, line in reversed(list(task.iter_await_frames())):
        module = frame.f_globals.get("__name__", "?")
        yield f"    {module}.{frame.f_code.co_name}:{line}"
