"""Carries cases out: which of them, on which servers, how many at once, and never longer than they may take."""

from __future__ import annotations

import dataclasses
import random
import string
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import trio

from rocketwire_tools.conformance.model.case import Profile, VerdictKind
from rocketwire_tools.conformance.model.placeholders import SHARED_NAMESPACE, Names
from rocketwire_tools.conformance.run.executor import CaseFailedError, Play, UnreachableError
from rocketwire_tools.conformance.run.live_server import LiveServer, stores_kv
from rocketwire_tools.conformance.run.probe import PROBE_SECONDS, probe
from rocketwire_tools.conformance.run.stored_traces import Traces
from rocketwire_tools.conformance.run.target import (
    CommandError,
    Demands,
    NeverListenedError,
    NotStartedError,
    StartedTarget,
    Target,
)
from rocketwire_tools.conformance.run.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rocketwire_tools.conformance.model.case import Case

CASES_AT_ONCE: Final = 8
SERVERS_AT_ONCE: Final = 2
CASE_SECONDS: Final = 30.0
SLOW_CASE_SECONDS: Final = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run is done.

    Attributes:
        profile: the generation of Java's server that is the measure.
        destructive: whether cases may touch what is not their own on a server that runs already.
        start: the command that starts a server; None to ask one that runs.
        options: properties of every server that is started; those of a case come on top.
        home: folder whose content each started server finds in its own; None for nothing.
        patience: factor for all deadlines.
        cases_at_once: cases that run at the same time on one server.
        servers_at_once: servers that run at the same time.
        run: word that makes the names of this run its own.
        keep_going: whether a case goes on after an outcome that is not acceptable.
        namespace: the KV namespace of all cases; empty to give each case one of its own.
        order_config: the order configuration that other people keep on the server, as JSON; None for none.
    """

    profile: Profile = Profile.JAVA_5_5
    destructive: bool = False
    start: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    home: Path | None = None
    patience: float = 1.0
    cases_at_once: int = CASES_AT_ONCE
    servers_at_once: int = SERVERS_AT_ONCE
    run: str = field(default_factory=lambda: random_word())
    keep_going: bool = False
    namespace: str = ""
    order_config: object = None


def random_word() -> str:
    """Six letters and digits."""
    chance = random.SystemRandom()
    return "".join(chance.choice(string.ascii_lowercase + string.digits) for _ in range(6))


def unfit(case: Case, settings: Settings) -> str | None:
    """Why a case cannot be carried out with these settings; None if it can."""
    if settings.profile not in case.profiles:
        return f"not of profile {settings.profile.value}"
    if settings.start is not None:
        return None
    if case.needs_start:
        return "needs a server of its own (--start)"
    if "destructive" in case.tags and not settings.destructive:
        return "destructive (--destructive)"
    return None


async def play(
    case: Case, number: int, target: Target, settings: Settings, traces: Traces | None = None
) -> Verdict:
    """Carry out one case against a target; whatever happens becomes a verdict.

    Args:
        case: which.
        number: of it, of which its names are made.
        target: the server.
        settings: how it is done.
        traces: where to write down what the case stored, and what it could not remove.
    """
    verdict = Verdict(case=case, kind=VerdictKind.ERROR)
    started = trio.current_time()
    names = Names(settings.run, number, settings.namespace)
    limit = SLOW_CASE_SECONDS if "slow" in case.tags else CASE_SECONDS
    async with trio.open_nursery() as nursery:
        course = Play(
            target,
            names,
            nursery,
            patience=settings.patience,
            keep_going=settings.keep_going,
            order_config=settings.order_config,
        )
        verdict.exchanges, verdict.observations = course.exchanges, course.observations
        try:
            with trio.move_on_after(limit * settings.patience) as scope:
                await _judge(verdict, course.run(*case.steps))
            if scope.cancelled_caught:
                verdict.kind = VerdictKind.FAIL
                verdict.reason = f"not done within {limit * settings.patience:g} s"
        finally:
            await _clean_up(verdict, course)
            if traces is not None:
                traces.namespaces |= course.traces.namespaces
                traces.undone += course.traces.undone
        nursery.cancel_scope.cancel()
    verdict.seconds = trio.current_time() - started
    return verdict


async def _clean_up(verdict: Verdict, course: Play) -> None:
    """Clean up after a case; its last steps can make a pass a failure, but never a failure a pass."""
    last = Verdict(case=verdict.case, kind=VerdictKind.PASS)
    await _judge(last, course.clean_up(*verdict.case.cleanup))
    if verdict.kind is VerdictKind.PASS and last.kind is not VerdictKind.PASS:
        verdict.kind, verdict.reason = last.kind, last.reason
        verdict.acceptable = last.acceptable


async def _judge(verdict: Verdict, course: Awaitable[None]) -> None:
    """Await what a case does, and write down what came of it."""
    try:
        await course
    except CaseFailedError as failure:
        verdict.kind, verdict.reason = VerdictKind.FAIL, str(failure)
        verdict.acceptable = failure.acceptable
    except NotStartedError as error:
        verdict.kind, verdict.reason = VerdictKind.ERROR, f"the server did not start: {error.told}"
    except UnreachableError as error:
        verdict.kind, verdict.reason = VerdictKind.ERROR, str(error)
    except Exception as error:  # noqa: BLE001 - a broken case is an error of its own, not the end of the run
        verdict.kind = VerdictKind.ERROR
        verdict.reason = f"the case is broken: {type(error).__name__}: {error}"
    else:
        verdict.kind = VerdictKind.PASS


def _demands(case: Case) -> Demands:
    return Demands(
        options=tuple(sorted((case.options or {}).items())),
        jvm=tuple(case.jvm),
        kv=case.kv,
        files=tuple(case.files),
    )


def groups(cases: Sequence[Case]) -> list[tuple[Demands, list[Case]]]:
    """Cases that can share a server, the largest group first; a ``fresh`` one is alone.

    The server without special demands comes before all others: if it does not start, no other will.
    """
    shared: defaultdict[Demands, list[Case]] = defaultdict(list)
    exclusive: list[tuple[Demands, list[Case]]] = []
    for case in cases:
        if case.fresh:
            exclusive.append((_demands(case), [case]))
        else:
            shared[_demands(case)].append(case)
    ordered = sorted(shared.items(), key=lambda group: (group[0] != Demands(), -len(group[1])))
    return [*ordered, *exclusive]


class Run:
    """One run of many cases.

    Attributes:
        verdicts: what has come so far, in the order of the cases' ends.
        left: what stays in a server that the suite has not started, one sentence each.
        problems: servers that did not start though others did, with their last output.
        version: the protocol version that the first server answered with, as ``V5_5_0``.
    """

    def __init__(
        self,
        settings: Settings,
        on_verdict: Callable[[Verdict], None],
        target: Target | None = None,
    ) -> None:
        """A run that has not begun.

        Args:
            settings: how it is done.
            done: told of each verdict as it comes.
            target: the server that runs already; None with ``settings.start``.
        """
        self.verdicts: list[Verdict] = []
        self.left: list[str] = []
        self.problems: list[str] = []
        self.version = ""
        self._settings = settings
        self._done = on_verdict
        self._target = target
        self._lost: dict[Target, str] = {}
        self._traces = Traces()
        self._started = False
        self._failed_start: NotStartedError | None = None
        self._hopeless: NotStartedError | None = None
        self._held_back: list[Verdict] = []
        self._servers = trio.CapacityLimiter(settings.servers_at_once)

    async def cases(self, cases: Sequence[Case], numbers: dict[str, int]) -> list[Verdict]:
        """Carry out cases; returns a verdict for each, in their order.

        Args:
            cases: what to carry out, or to skip with a reason.
            numbers: a number for each address, of which its names are made.

        Raises:
            NotStartedError: not one server started.
        """
        fit: list[Case] = []
        for case in cases:
            reason = unfit(case, self._settings)
            if reason is None:
                fit.append(case)
            else:
                self._held_back.append(Verdict(case=case, kind=VerdictKind.SKIP, reason=reason))
        if self._settings.start is None:
            self._release(started=True)
            await self._on_running(fit, numbers)
        else:
            with TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
                await self._on_servers(Path(folder), fit, numbers)
            if self._failed_start is not None and not self._started:
                raise self._failed_start
            self._release(started=True)
        order = {case.id: place for place, case in enumerate(cases)}
        return sorted(self.verdicts, key=lambda verdict: order[verdict.case.id])

    def _add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self._done(verdict)

    async def _on_running(self, cases: Sequence[Case], numbers: dict[str, int]) -> None:
        """Carry out cases on a server that the suite has not started, and remove what they leave there."""
        if self._target is None:
            return
        live = LiveServer(self._target, self._settings.patience)
        self._settings = dataclasses.replace(
            self._settings, namespace=SHARED_NAMESPACE, order_config=await live.order_config()
        )
        if any(stores_kv(case) for case in cases):
            self._traces.namespaces.add(SHARED_NAMESPACE)
        await live.remove_entries()
        try:
            await self._all(cases, numbers, self._target)
        finally:
            self.left += await live.clean_up(self._traces)

    async def _on_servers(
        self, folder: Path, cases: Sequence[Case], numbers: dict[str, int]
    ) -> None:
        """Carry out cases on servers of their own, one after the other until one has started."""
        async with trio.open_nursery() as nursery:
            for place, (demands, members) in enumerate(groups(cases)):
                arguments = (folder / str(place), demands, members, numbers)
                if self._started:
                    nursery.start_soon(self._on_started, *arguments)
                elif self._hopeless is None:
                    await nursery.start(self._on_started, *arguments)

    async def _on_started(
        self,
        folder: Path,
        demands: Demands,
        cases: Sequence[Case],
        numbers: dict[str, int],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        async with self._servers:
            complete = dataclasses.replace(
                demands, options=(*self._settings.options, *demands.options)
            )
            target = StartedTarget(
                self._settings.start or "",
                folder,
                complete,
                self._settings.home,
                self._settings.patience,
            )
            try:
                reason = await self._start(target)
                task_status.started()
                if reason is None:
                    await self._all(cases, numbers, target)
                    return
                self._held_back += [
                    Verdict(case=case, kind=VerdictKind.ERROR, reason=reason) for case in cases
                ]
                self._release()
            finally:
                await target.stop(kill=True)

    async def _start(self, target: StartedTarget) -> str | None:
        """Start a server; returns why that did not succeed, or None.

        No other is started after a command that cannot be run, a server that never listened (a minute for each would be half
        an hour), and one without special demands.
        """
        default = Demands(options=self._settings.options)
        if self._hopeless is not None:
            return f"the server was not started; before: {self._hopeless}"
        try:
            await target.start()
        except NotStartedError as error:
            self._failed_start = self._failed_start or error
            if isinstance(error, (CommandError, NeverListenedError)) or target.demands == default:
                self._hopeless = error
            self.problems.append(f"a server{target.demanded} did not start: {error.told}")
            return f"the server did not start: {error}"
        if not self.version:
            with suppress(UnreachableError):
                limit = PROBE_SECONDS * self._settings.patience
                self.version = (await probe(target, limit)).version
        self._release(started=True)
        return None

    def _release(self, *, started: bool = False) -> None:
        """Pass on what was held back, once a server has started: if none does, there are no verdicts."""
        self._started = self._started or started
        if self._started:
            held_back, self._held_back = self._held_back, []
            for verdict in held_back:
                self._add(verdict)

    async def _all(self, cases: Sequence[Case], numbers: dict[str, int], target: Target) -> None:
        waiting = deque(cases)
        exclusive: deque[Case] = deque()
        if self._settings.namespace:  # whose entries cases list, so only one at a time uses it
            exclusive.extend(filter(stores_kv, cases))
            waiting = deque(case for case in cases if not stores_kv(case))

        async def work(*queues: deque[Case]) -> None:
            for queue in queues:
                while queue:
                    await self._one(queue.popleft(), numbers, target)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(work, exclusive, waiting)
            for _ in range(self._settings.cases_at_once - 1):
                nursery.start_soon(work, waiting)

    async def _one(self, case: Case, numbers: dict[str, int], target: Target) -> None:
        lost = self._lost.get(target)
        if lost is not None:
            self._add(Verdict(case=case, kind=VerdictKind.ERROR, reason=lost))
            return
        verdict = await play(case, numbers[case.id], target, self._settings, self._traces)
        self._add(verdict)
        if verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}:
            await self._see_whether_lost(target)

    async def _see_whether_lost(self, target: Target) -> None:
        """After a failure, find out whether it is worth while to go on."""
        try:
            wrong = (await probe(target, PROBE_SECONDS * self._settings.patience)).wrong
        except UnreachableError as error:
            wrong = f"is gone: {error}"
        if wrong is not None:
            self._lost[target] = f"the target {wrong}"
