"""``Portal``: runs trio in a thread of its own, and executes calls of other threads there.

* One wake for many calls: a caller appends to a queue, and writes to a descriptor only if trio may
  sleep. The task that reads the descriptor passes calls to workers.
* A worker is a trio task that executes one call after the other. Idle workers are kept, because a
  new task costs as much as a whole call.
* The thread lives while anything is open: the last resource that is closed ends it.
* A fork has no such thread, and must not share the parent's connections. In the child the portal
  is marked, so that its clients raise ``ClientForkedError`` or open themselves again, and copies of
  sockets are closed: that sends nothing to the peers. Trio's thread pauses while the parent forks,
  between two tasks. If it were within an import, the child would have half a module for ever.
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from threading import Event
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

import trio

from rocketwire.errors import ChannelClosedError, ClientForkedError, LocalProtocolError
from rocketwire.portal.calls import Call, CallCancelledError, ThreadCall, run_in_context
from rocketwire.transport import dial

T = TypeVar("T")

MAX_IDLE_WORKERS: Final = 64  # maximum workers that wait for calls; others end
END_PATIENCE: Final = 1.0  # seconds for running calls when the thread ends

CLOSED: Final = "the client was closed"


class Worker:
    def __init__(self, portal: Portal, call: Call) -> None:
        self._portal = portal
        self._calls = [call]  # one call, or none
        self._scope = trio.CancelScope()
        self._task: trio.lowlevel.Task | None = None

    def give(self, call: Call) -> None:
        self._calls.append(call)
        if self._task is not None:
            task, self._task = self._task, None
            trio.lowlevel.reschedule(task)

    def cancel(self) -> None:
        self._scope.cancel()

    async def run(self) -> None:
        while True:
            # a scope costs a part of a call: only a cancelled one is replaced
            with trio.CancelScope() as self._scope:
                while not self._scope.cancel_called:
                    if self._calls:
                        await self._execute(self._calls.pop())
                    elif not await self._wait():
                        return

    async def _execute(self, call: Call) -> None:
        value: Any = None
        error: BaseException | None = None
        call.cancel = self.cancel
        self._portal.running += 1
        try:
            if call.is_cancelled:
                error = CallCancelledError()
            elif call.context is None:
                value = await call.function(*call.arguments, **call.named)
            else:
                call_it: Any = partial(call.function, *call.arguments, **call.named)
                value = await run_in_context(call.context, call_it)
        except trio.Cancelled:
            self._finish(call, None, CallCancelledError())
            raise
        except BaseException as raised:  # noqa: BLE001 - passed to the caller
            error = raised
        self._finish(call, value, error)
        value = error = None

    def _finish(self, call: Call, value: object, error: BaseException | None) -> None:
        self._portal.running -= 1
        call.cancel = None
        call.finish(value, error)

    async def _wait(self) -> bool:
        idle = self._portal.idle_workers
        if len(idle) >= MAX_IDLE_WORKERS:
            return False

        def abort(_: object) -> trio.lowlevel.Abort:
            idle.remove(self)
            self._task = None
            return trio.lowlevel.Abort.SUCCEEDED

        self._task = trio.lowlevel.current_task()
        idle.append(self)
        await trio.lowlevel.wait_task_rescheduled(abort)
        return True


class PortalUser:
    used_portal: Portal | None = None


class Portal:
    """Trio in a thread of its own; ``use_portal`` returns it."""

    def __init__(self) -> None:
        self.is_forked: bool = False  # this process is a fork: the thread does not run here
        self.is_ended: bool = False  # the thread has ended
        self.idle_workers: list[Worker] = []
        self.running = 0  # calls that workers execute
        self.users: set[PortalUser] = set()
        self._queue: deque[Callable[[], object] | Call] = deque()
        self._on_ended: deque[Callable[[], object]] = deque()
        self._is_awake = False
        self._is_ending = False
        self._sleeping, self._waking = socket.socketpair()
        for end in (self._sleeping, self._waking):
            end.setblocking(False)
        self._wake_descriptor = self._waking.fileno()
        self._nursery: trio.Nursery | None = None
        self._thread = threading.Thread(target=self._run, name="rocketwire", daemon=True)

    def start(self) -> None:
        """Start the thread; if that is interrupted (Ctrl-C), it ends again."""
        try:
            self._thread.start()
        except BaseException:
            self._is_ending = True
            self._wake()
            raise

    # ------------------------------------------------------------------ from any thread

    @property
    def is_here(self) -> bool:
        return threading.get_ident() == self._thread.ident

    def post(self, item: Callable[[], object] | Call) -> None:
        """Let trio execute a call, or call a function that neither waits nor raises."""
        if self.is_forked or self.is_ended:
            raise ClientForkedError if self.is_forked else ChannelClosedError(CLOSED)
        self._queue.append(item)
        if not self._is_awake:
            self._wake()
        if self.is_ended:
            self._drop_queue()

    def _wake(self) -> None:
        self._is_awake = True
        try:
            os.write(self._wake_descriptor, b"w")
        except OSError:  # full: trio has not read earlier wakes yet
            return
        except BaseException:  # an interrupt: the next caller wakes trio
            self._is_awake = False
            raise

    def call(self, function: Callable[..., Awaitable[T]], /, *arguments: Any, **named: Any) -> T:
        """Execute a coroutine function in trio, and wait for its result in this thread.

        If the wait is interrupted (Ctrl-C), the call is cancelled, and the interrupt is raised when
        it has ended. Errors are those of ``post`` and of the function.
        """
        value: T = self.wait(ThreadCall(function, arguments, named))
        return value

    def wait(self, call: ThreadCall) -> Any:
        """Execute a call as ``call`` does; its callbacks run in this thread."""
        if self.is_here:
            raise LocalProtocolError("a function that trio calls cannot wait for trio")
        try:
            self.post(call)
            call.lock.acquire()
            while (callback := call.callback) is not None:
                call.callback = None
                callback.run()
                call.lock.acquire()
        except (ClientForkedError, ChannelClosedError):  # of ``post``
            raise
        except BaseException:  # an interrupt, raised by a signal handler
            call.is_cancelled = True
            self.post(call)  # again: perhaps it was not queued
            self.cancel(call)
            while not call.is_done:
                call.lock.acquire()  # another interrupt ends the wait
            raise
        if call.error is not None:
            try:
                raise call.visible_error()
            finally:
                del call  # no cycle with the traceback
        return call.value

    def cancel(self, call: Call) -> None:
        call.is_cancelled = True

        def cancel() -> None:
            if call.cancel is not None:
                call.cancel()

        self.post(cancel)

    # ------------------------------------------------------------------ in trio's thread

    def start_soon(self, function: Callable[..., Awaitable[object]], *arguments: Any) -> None:
        if self._nursery is None:
            raise ChannelClosedError(CLOSED)
        self._nursery.start_soon(function, *arguments)

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        finally:
            self.is_ended = True
            current.ending.discard(self)
            self._drop_queue()
            self._wake_descriptor = -1
            self._waking.close()
            self._sleeping.close()
            self._call_on_ended()

    def _drop_queue(self) -> None:
        # calls that came too late fail
        with suppress(IndexError):
            while True:
                item = self._queue.popleft()
                if isinstance(item, Call) and not item.is_taken:
                    item.is_taken = True
                    item.finish(None, ChannelClosedError(CLOSED))

    async def _serve(self) -> None:
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            descriptor = self._sleeping.fileno()
            while not self._is_ending:
                await trio.lowlevel.wait_readable(descriptor)
                os.read(descriptor, 4096)
                self._is_awake = False  # the next caller wakes trio again
                self._take()
            with trio.move_on_after(END_PATIENCE):
                while self.running:
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()

    def _take(self) -> None:
        queue, idle = self._queue, self.idle_workers
        while queue:
            item = queue.popleft()
            if not isinstance(item, Call):
                item()
            elif not item.is_taken:
                item.is_taken = True
                if idle:
                    idle.pop().give(item)
                else:
                    self.start_soon(Worker(self, item).run)

    def end_soon(self) -> None:
        def end() -> None:
            self._is_ending = True

        with suppress(ChannelClosedError):
            self.post(end)

    def call_when_ended(self, function: Callable[[], object]) -> None:
        # from any thread; at once if it has ended
        self._on_ended.append(function)
        if self.is_ended:
            self._call_on_ended()

    def _call_on_ended(self) -> None:
        with suppress(IndexError):
            while True:
                self._on_ended.popleft()()

    def abandon(self) -> None:
        self.is_forked = True
        self._waking.close()
        self._sleeping.close()

    def join_if_unused(self) -> None:
        # not in trio's thread
        if not self.users and not self.is_forked:
            self._thread.join()


class _Current:
    def __init__(self) -> None:
        self.portal: Portal | None = None  # None while nothing is open
        self.ending: set[Portal] = set()  # their threads are about to end
        self.lock: threading.Lock = threading.Lock()  # guards both, and ``Portal.users``
        self.fork_lock: threading.Lock = threading.Lock()  # one thread forks at a time
        self.fork_over: threading.Event = threading.Event()  # ends the pauses of trio


current: Final = _Current()


def use_portal(user: PortalUser) -> Portal:
    # An interrupt leaves nothing behind that ``leave_portal`` does not find.
    with current.lock:
        portal = current.portal
        if portal is None or portal.is_ended:
            portal = Portal()
            portal.start()
            current.portal = portal
        user.used_portal = portal
        portal.users.add(user)
        return portal


def leave_portal(user: PortalUser) -> None:
    # the last one ends its thread
    with current.lock:
        portal = user.used_portal
        if portal is None:
            return
        portal.users.discard(user)
        if portal.users or portal.is_forked:
            return
        if current.portal is portal:
            current.portal = None
        current.ending.add(portal)
        portal.end_soon()


plain_sockets: WeakSet[socket.socket] = WeakSet()  # sockets of connections without trio
# Seconds for which a fork waits until trio pauses, and which the pause takes, at most
FORK_PATIENCE: Final = 5.0


def before_fork() -> None:
    """Pause trio, and let the fork find the portal's lock released."""
    current.fork_lock.acquire()
    over = current.fork_over = threading.Event()
    pauses: list[threading.Event] = []
    for portal in {current.portal, *current.ending.copy()}:
        if portal is not None and not portal.is_here:
            has_begun = threading.Event()
            with suppress(ChannelClosedError, ClientForkedError):
                portal.post(partial(_pause, has_begun, over))
                pauses.append(has_begun)
    for has_begun in pauses:
        has_begun.wait(FORK_PATIENCE)
    current.lock.acquire()


def _pause(has_begun: threading.Event, over: threading.Event) -> None:
    has_begun.set()
    over.wait(FORK_PATIENCE)


def after_in_parent() -> None:
    current.lock.release()
    current.fork_over.set()
    current.fork_lock.release()


def after_in_child() -> None:
    current.lock, current.fork_lock = threading.Lock(), threading.Lock()
    portal, current.portal = current.portal, None
    for abandoned in {portal, *current.ending}:
        if abandoned is not None:
            abandoned.abandon()
    current.ending.clear()
    for trio_socket in list(dial.sockets):
        with suppress(OSError):
            os.close(trio_socket.detach())
    dial.sockets.clear()
    for plain_socket in list(plain_sockets):
        with suppress(OSError):
            plain_socket.close()
    plain_sockets.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=before_fork, after_in_parent=after_in_parent, after_in_child=after_in_child
    )


T_co = TypeVar("T_co", covariant=True)

EXIT_PATIENCE: Final = 5.0  # seconds that open resources get to close when the program ends


class Resource(PortalUser, Generic[T_co]):
    def __init__(self, opener: Callable[[], AbstractAsyncContextManager[T_co]]) -> None:
        self.error: BaseException | None = None  # the error that has ended it
        self.is_closed: bool = False  # its task has ended
        self.on_closed: list[Callable[[], object]] = []  # called in trio when its task has ended
        self._opener = opener
        self._values: list[Any] = []
        self._scope = trio.CancelScope()
        self._ready, self._closing, self._ended = trio.Event(), trio.Event(), trio.Event()
        self._has_ended = Event()
        self._has_task = False

    def begin(self) -> Portal:
        return use_portal(self)

    @property
    def portal(self) -> Portal:
        portal = self.used_portal
        if portal is None:
            raise ChannelClosedError(CLOSED)
        return portal

    @property
    def value(self) -> T_co:
        """The context manager's value; raises ``ChannelClosedError`` or the error that ended it."""
        if self.is_closed or not self._values:
            raise self.error or ChannelClosedError(CLOSED)
        value: T_co = self._values[0]
        return value

    # ------------------------------------------------------------------ in trio

    async def open(self) -> T_co:
        self._has_task = True
        self.portal.start_soon(self._run)
        await self._wait(self._ready)
        return self.value

    async def close(self) -> None:
        # Raises the error that had ended it. If it is cancelled, so are its tasks.
        self._close_now()
        if self._has_task:  # otherwise it was never opened
            await self._wait(self._ended)
            self.raise_error()

    async def _wait(self, event: trio.Event) -> None:
        try:
            await event.wait()
        except trio.Cancelled:
            self._scope.cancel()
            with trio.CancelScope(shield=True):
                await self._ended.wait()
            raise

    def raise_error(self) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error

    async def _run(self) -> None:
        try:
            with self._scope:
                async with self._opener() as value:
                    self._values.append(value)
                    self._ready.set()
                    await self._closing.wait()
        except BaseException as error:  # noqa: BLE001 - raised where the resource is used
            self.error = error
        finally:
            self.is_closed = True
            self._values.clear()
            self._ready.set()
            self._ended.set()
            self._has_ended.set()
            for function in self.on_closed:
                function()
            leave_portal(self)

    # ------------------------------------------------------------------ from any thread

    def close_soon(self) -> None:
        """Start to leave the context manager, without waiting, whether it was entered or not."""
        if not self.is_closed:
            with suppress(ChannelClosedError, ClientForkedError):
                self.portal.post(self._close_now)

    def _close_now(self) -> None:
        self._closing.set()
        if not self._has_task:
            self.is_closed = True
            leave_portal(self)

    def fail_soon(self, error: BaseException) -> None:
        """End with an error, which is raised where the resource is used."""

        def fail() -> None:
            self.error = self.error or error
            self._closing.set()

        with suppress(ChannelClosedError):
            self.portal.post(fail)

    def wait_closed(self, seconds: float) -> None:
        self._has_ended.wait(seconds)


def close_everything() -> None:
    portal = current.portal
    if portal is None or portal.is_forked:
        return
    resources: list[Resource[Any]] = [u for u in portal.users.copy() if isinstance(u, Resource)]
    for resource in resources:
        resource.close_soon()
    for resource in resources:
        resource.wait_closed(EXIT_PATIENCE)


atexit.register(close_everything)
