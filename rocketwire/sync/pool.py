"""``Pool``: the threads in which functions of an application are called."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from rocketwire.portal.errands import run_in_executor

if TYPE_CHECKING:
    from rocketwire.portal.portal import Portal


class Pool:
    """Threads of the application's choice, or threads that end with the client.

    Attributes:
        portal: where trio runs; set before the first call.
    """

    def __init__(self, executor: Executor | None, threads: int) -> None:
        """Create a pool without threads.

        Args:
            executor: the application's pool, which it shuts down itself; or None.
            threads: most threads otherwise.
        """
        self.portal: Portal | None = None
        self._executor = executor
        self._own: ThreadPoolExecutor | None = None
        self._threads = threads

    @property
    def executor(self) -> Executor:
        """The threads."""
        if self._executor is not None:
            return self._executor
        if self._own is None:
            self._own = ThreadPoolExecutor(self._threads, thread_name_prefix="rocketwire-handler")
        return self._own

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Execute a function in a thread; called in trio."""
        if self.portal is None:
            raise RuntimeError("the pool has no portal")
        return await run_in_executor(self.portal, self.executor, partial(function, *arguments))

    def forget(self) -> None:
        """Start anew in a fork, which has none of the threads."""
        self._own = None

    def close(self) -> None:
        """End the own threads when their functions have returned, without waiting for these."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)
