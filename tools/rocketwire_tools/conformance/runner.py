"""Carries cases out: which of them, on which servers, how many at once, and never longer than they may take."""

from __future__ import annotations

import dataclasses
import random
import string
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import trio

from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.case import Profile, VerdictKind
from rocketwire_tools.conformance.link import connect
from rocketwire_tools.conformance.names import Names
from rocketwire_tools.conformance.play import CaseFailedError, Play, UnreachableError
from rocketwire_tools.conformance.target import (
    Demands,
    NeverListenedError,
    NotStartedError,
    StartedTarget,
    Target,
)
from rocketwire_tools.conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rocketwire_tools.conformance.case import Case

CASES_AT_ONCE: Final = 8
SERVERS_AT_ONCE: Final = 2
CASE_SECONDS: Final = 30.0
SLOW_CASE_SECONDS: Final = 180.0
PROBE_SECONDS: Final = 5.0
_PROBE: Final = RemotingCommand(code=106, opaque=77)


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


async def probe(target: Target, seconds: float = PROBE_SECONDS) -> str | None:
    """Ask for the cluster list; returns why that is not answered, or None.

    Raises:
        UnreachableError: nobody takes the connection.
    """
    address = target.address
    link = None
    try:
        with trio.move_on_after(seconds):
            link = await connect("probe", address.host, address.port)
    except OSError as error:
        raise UnreachableError(f"{address}: {error}") from error
    if link is None:
        raise UnreachableError(f"{address}: no connection within {seconds:g} s")
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.read)
            await link.send(encode(_PROBE))
            arrival = None
            with trio.move_on_after(seconds):
                arrival = await link.next(lambda one: one.kind != "request")
            nursery.cancel_scope.cancel()
    finally:
        await link.close()
    if arrival is None:
        return f"takes connections, but answers nothing within {seconds:g} s"
    if arrival.kind == "end":
        return f"takes connections, but ends them ({arrival.reason})"
    if arrival.command is None:
        return f"answers what is no frame ({arrival.reason})"
    right = arrival.command.opaque == _PROBE.opaque
    return None if right else "answers with a number that was not asked"


async def play(case: Case, number: int, target: Target, settings: Settings) -> Verdict:
    """Carry out one case against a target; whatever happens becomes a verdict."""
    verdict = Verdict(case=case, kind=VerdictKind.ERROR)
    started = trio.current_time()
    names = Names(settings.run, number)
    limit = SLOW_CASE_SECONDS if "slow" in case.tags else CASE_SECONDS
    async with trio.open_nursery() as nursery:
        course = Play(
            target,
            names,
            nursery,
            patience=settings.patience,
            keep_going=settings.keep_going,
        )
        verdict.exchanges, verdict.observations = course.exchanges, course.observations
        with trio.move_on_after(limit * settings.patience) as scope:
            await _judge(verdict, course)
        if scope.cancelled_caught:
            verdict.kind = VerdictKind.FAIL
            verdict.reason = f"not done within {limit * settings.patience:g} s"
        await course.clean_up()
        nursery.cancel_scope.cancel()
    verdict.seconds = trio.current_time() - started
    return verdict


async def _judge(verdict: Verdict, course: Play) -> None:
    try:
        try:
            await course.run(*verdict.case.steps)
        finally:
            if verdict.case.cleanup:
                with trio.CancelScope(shield=True), trio.move_on_after(PROBE_SECONDS):
                    await course.run(*verdict.case.cleanup)
    except CaseFailedError as failure:
        verdict.kind, verdict.reason = VerdictKind.FAIL, str(failure)
        verdict.acceptable = failure.acceptable
    except (UnreachableError, NotStartedError) as error:
        verdict.reason = str(error)
    except Exception as error:  # noqa: BLE001 - a broken case is an error of its own, not the end of the run
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
    """Cases that can share a server, the largest group first; a ``fresh`` one is alone."""
    shared: defaultdict[Demands, list[Case]] = defaultdict(list)
    alone: list[tuple[Demands, list[Case]]] = []
    for case in cases:
        if case.fresh:
            alone.append((_demands(case), [case]))
        else:
            shared[_demands(case)].append(case)
    return [*sorted(shared.items(), key=lambda group: -len(group[1])), *alone]


class Run:
    """One run of many cases.

    Attributes:
        verdicts: what has come so far, in the order of the cases' ends.
    """

    def __init__(
        self, settings: Settings, done: Callable[[Verdict], None], target: Target | None = None
    ) -> None:
        """A run that has not begun.

        Args:
            settings: how it is done.
            done: told of each verdict as it comes.
            target: the server that runs already; None with ``settings.start``.
        """
        self.verdicts: list[Verdict] = []
        self._settings = settings
        self._done = done
        self._target = target
        self._lost: dict[Target, str] = {}
        self._useless = ""
        self._servers = trio.CapacityLimiter(settings.servers_at_once)

    async def cases(self, cases: Sequence[Case], numbers: dict[str, int]) -> list[Verdict]:
        """Carry out cases; returns a verdict for each, in their order.

        Args:
            cases: what to carry out, or to skip with a reason.
            numbers: a number for each address, of which its names are made.
        """
        fit: list[Case] = []
        for case in cases:
            reason = unfit(case, self._settings)
            if reason is None:
                fit.append(case)
            else:
                self._add(Verdict(case=case, kind=VerdictKind.SKIP, reason=reason))
        with TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
            async with trio.open_nursery() as nursery:
                if self._settings.start is None:
                    nursery.start_soon(self._on_running, fit, numbers)
                else:
                    for place, (demands, members) in enumerate(groups(fit)):
                        nursery.start_soon(
                            self._on_started, Path(folder) / str(place), demands, members, numbers
                        )
        order = {case.id: place for place, case in enumerate(cases)}
        return sorted(self.verdicts, key=lambda verdict: order[verdict.case.id])

    def _add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self._done(verdict)

    async def _on_running(self, cases: Sequence[Case], numbers: dict[str, int]) -> None:
        if self._target is not None:
            await self._all(cases, numbers, self._target)

    async def _on_started(
        self, folder: Path, demands: Demands, cases: Sequence[Case], numbers: dict[str, int]
    ) -> None:
        async with self._servers:
            own = dataclasses.replace(demands, options=(*self._settings.options, *demands.options))
            target = StartedTarget(self._settings.start or "", folder, own, self._settings.home)
            try:
                reason = await self._start(target)
                if reason is None:
                    await self._all(cases, numbers, target)
                    return
                for case in cases:
                    self._add(Verdict(case=case, kind=VerdictKind.ERROR, reason=reason))
            finally:
                await target.stop(kill=True)

    async def _start(self, target: StartedTarget) -> str | None:
        """Start a server; returns why that did not succeed, or None.

        Where one never listened no other is waited for: a minute for each would be half an hour.
        """
        if not self._useless:
            try:
                await target.start()
            except NeverListenedError as error:
                self._useless = f"the server did not start: {error}"
            except (NotStartedError, OSError) as error:
                return f"the server did not start: {error}"
        return self._useless or None

    async def _all(self, cases: Sequence[Case], numbers: dict[str, int], target: Target) -> None:
        waiting = deque(cases)

        async def work() -> None:
            while waiting:
                await self._one(waiting.popleft(), numbers, target)

        async with trio.open_nursery() as nursery:
            for _ in range(self._settings.cases_at_once):
                nursery.start_soon(work)

    async def _one(self, case: Case, numbers: dict[str, int], target: Target) -> None:
        lost = self._lost.get(target)
        if lost is not None:
            self._add(Verdict(case=case, kind=VerdictKind.ERROR, reason=lost))
            return
        verdict = await play(case, numbers[case.id], target, self._settings)
        self._add(verdict)
        if verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}:
            await self._see_whether_lost(target)

    async def _see_whether_lost(self, target: Target) -> None:
        """After a failure, find out whether it is worth while to go on."""
        try:
            wrong = await probe(target, PROBE_SECONDS * self._settings.patience)
        except UnreachableError as error:
            wrong = f"is gone: {error}"
        if wrong is not None:
            self._lost[target] = f"the target {wrong}"
