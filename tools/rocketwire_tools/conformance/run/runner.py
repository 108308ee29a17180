"""Runs cases: selects servers, limits concurrency and time."""

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

from rocketwire.versions import MQVersion
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.model.bystander import add_bystander
from rocketwire_tools.conformance.model.case import Case, Profile, VerdictKind
from rocketwire_tools.conformance.model.placeholders import SHARED_NAMESPACE, Names, wall_clock
from rocketwire_tools.conformance.run.executor import (
    CaseFailedError,
    CaseRun,
    Traces,
    UnreachableError,
)
from rocketwire_tools.conformance.run.live_server import LiveServer, stores_kv
from rocketwire_tools.conformance.run.raw_connection import Arrival, RawConnection, connect
from rocketwire_tools.conformance.run.target import (
    CommandError,
    NeverListenedError,
    NotStartedError,
    ServerSetup,
    StartedTarget,
    Target,
)
from rocketwire_tools.conformance.run.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from rocketwire_tools.conformance.model.steps import Request

MAX_CONCURRENT_CASES: Final = 8
MAX_CONCURRENT_SERVERS: Final = 2
CASE_SECONDS: Final = 30.0
SLOW_CASE_SECONDS: Final = 180.0
_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    profile: Profile = Profile.JAVA_5_5  # the generation of Java's server to compare with
    # whether cases may change data that is not their own on a running server
    destructive: bool = False
    start: str | None = None  # command that starts a server; None for a running one
    # properties of every started server; those of a case are added
    options: tuple[tuple[str, str], ...] = ()
    home: Path | None = None  # folder to copy to each started server's folder; None for nothing
    patience: float = 1.0  # factor for all timeouts
    # word that makes the names of this run unique
    run: str = field(default_factory=lambda: random_word())
    keep_going: bool = False  # whether a case continues after an unacceptable outcome
    namespace: str = ""  # the KV namespace of all cases; empty for one per case
    # the order configuration that exists on the server, as JSON; None for none
    order_config: object = None
    # properties of a running broker
    configuration: Mapping[str, str] = field(default_factory=dict[str, str])
    # values of ``{=name}`` that all cases have
    saved: Mapping[str, str] = field(default_factory=dict[str, str])
    # requests that remove what a case with these names has stored; None if its requests tell what
    # to remove
    removals: Callable[[Names], list[Request]] | None = None
    clock: Callable[[], int] = wall_clock  # the time of ``{=now}``, in milliseconds since 1970


def random_word() -> str:
    chance = random.SystemRandom()
    return "".join(chance.choice(string.ascii_lowercase + string.digits) for _ in range(6))


def skip_reason(case: Case, settings: Settings) -> str | None:
    """Why a case cannot be run with these settings; None if it can."""
    if settings.profile not in case.profiles:
        return f"not in profile {settings.profile.value}"
    for name, text in case.requires.items():
        if settings.configuration.get(name, text) != text:
            return f"the broker has not {name}={text}"
    if settings.start is not None:
        return None
    if case.needs_start:
        return "needs its own server (--start)"
    if "destructive" in case.tags and not settings.destructive:
        return "destructive (--destructive)"
    return None


async def run_case(
    case: Case, target: Target, settings: Settings, traces: Traces | None = None
) -> Verdict:
    """Run one case against a target; every result, also an exception, becomes a verdict.

    ``traces`` receives the data that the case stored and could not remove.
    """
    verdict = await _run_once(case, target, settings, traces)
    for attempt in range(1, max(case.attempts, _ATTEMPTS)):
        if verdict.kind is not VerdictKind.FAIL:
            break
        if attempt >= case.attempts and not _was_disturbed(verdict):
            break
        again = dataclasses.replace(settings, run=f"{settings.run}{attempt}")
        verdict = await _run_once(case, target, again, traces)
    return verdict


def _was_disturbed(verdict: Verdict) -> bool:
    """Java lists brokers without a lock: 106 fails if another case registers one meanwhile.

    Source: ``RouteInfoManager.getAllClusterInfo`` @ 4.9.4, 5.3.3 and 5.5.0.
    """
    return any(b"ConcurrentModificationException" in each.data for each in verdict.exchanges)


async def _run_once(
    case: Case, target: Target, settings: Settings, traces: Traces | None
) -> Verdict:
    verdict = Verdict(case=case, kind=VerdictKind.ERROR)
    started = trio.current_time()
    names = Names(settings.run, case.number, settings.namespace)
    names.saved.update(settings.saved)
    names.clock = settings.clock
    limit = SLOW_CASE_SECONDS if "slow" in case.tags else CASE_SECONDS
    async with trio.open_nursery() as nursery:
        case_run = CaseRun(
            target,
            names,
            nursery,
            patience=settings.patience,
            keep_going=settings.keep_going,
            order_config=settings.order_config,
        )
        verdict.exchanges, verdict.observations = case_run.exchanges, case_run.observations
        try:
            with trio.move_on_after(limit * settings.patience) as scope:
                steps = (add_bystander(case) if case.bystander else case).steps
                await _judge(verdict, case_run.run(*steps))
            if scope.cancelled_caught:
                verdict.kind = VerdictKind.FAIL
                verdict.reason = f"not finished within {limit * settings.patience:g} s"
        finally:
            if settings.removals is not None:
                case_run.traces.pending += settings.removals(names)
            await _clean_up(verdict, case_run)
            if traces is not None:
                traces.namespaces |= case_run.traces.namespaces
                traces.pending += case_run.traces.pending
        nursery.cancel_scope.cancel()
    verdict.seconds = trio.current_time() - started
    return verdict


async def _clean_up(verdict: Verdict, case_run: CaseRun) -> None:
    # Clean up after a case; a failed cleanup turns a pass into a failure
    last = Verdict(case=verdict.case, kind=VerdictKind.PASS)
    await _judge(last, case_run.clean_up(*verdict.case.cleanup))
    if verdict.kind is VerdictKind.PASS and last.kind is not VerdictKind.PASS:
        verdict.kind, verdict.reason = last.kind, last.reason
        verdict.acceptable = last.acceptable


async def _judge(verdict: Verdict, work: Awaitable[None]) -> None:
    try:
        await work
    except CaseFailedError as failure:
        verdict.kind, verdict.reason = VerdictKind.FAIL, str(failure)
        verdict.acceptable = failure.acceptable
    except NotStartedError as error:
        verdict.kind, verdict.reason = (
            VerdictKind.ERROR,
            f"the server did not start: {error.details}",
        )
    except UnreachableError as error:
        verdict.kind, verdict.reason = VerdictKind.ERROR, str(error)
    except Exception as error:  # noqa: BLE001 - a broken case must not end the run
        verdict.kind = VerdictKind.ERROR
        verdict.reason = f"the case is broken: {type(error).__name__}: {error}"
    else:
        verdict.kind = VerdictKind.PASS


def _setup_of(case: Case) -> ServerSetup:
    return ServerSetup(
        options=tuple(sorted((case.options or {}).items())),
        jvm=tuple(case.jvm),
        kv=case.kv,
        files=tuple(case.files),
    )


def groups(cases: Sequence[Case]) -> list[tuple[ServerSetup, list[Case]]]:
    """Groups of cases that can share a server, the largest first; a ``fresh`` case is alone.

    The server without special setup comes first: if it does not start, no other does.
    """
    shared: defaultdict[ServerSetup, list[Case]] = defaultdict(list)
    exclusive: list[tuple[ServerSetup, list[Case]]] = []
    for case in cases:
        if case.fresh:
            exclusive.append((_setup_of(case), [case]))
        else:
            shared[_setup_of(case)].append(case)
    ordered = sorted(shared.items(), key=lambda group: (group[0] != ServerSetup(), -len(group[1])))
    return [*ordered, *exclusive]


class SuiteRun:
    def __init__(
        self,
        settings: Settings,
        on_verdict: Callable[[Verdict], None],
        target: Target | None = None,
    ) -> None:
        """A run that begins with ``cases``; ``target`` is None with ``settings.start``."""
        # the verdicts so far, in the order in which the cases ended
        self.verdicts: list[Verdict] = []
        # data that remains in a server that the suite did not start, one sentence each
        self.left_behind: list[str] = []
        # servers that did not start although others did, with their last output
        self.problems: list[str] = []
        self.version = ""  # version in the responses of the first server, such as ``V5_5_0``
        self.settings = settings
        self.target = target  # the running server; None with ``settings.start``
        self._on_verdict = on_verdict
        self._lost: dict[Target, str] = {}
        self.traces = Traces()  # data that cases stored and could not remove
        self._started = False
        self._failed_start: NotStartedError | None = None
        self._fatal_error: NotStartedError | None = None
        self._held_back: list[Verdict] = []
        self._servers = trio.CapacityLimiter(MAX_CONCURRENT_SERVERS)

    async def probe_target(self) -> str | None:
        """Probe the running server; returns why no case can be run on it, None if they can.

        Raises ``UnreachableError`` if it does not accept connections.
        """
        if self.target is None:
            return None
        probed = await self.probe(self.target)
        self.version = probed.version
        return None if probed.wrong is None else f"{self.target.address} {probed.wrong}"

    async def probe(self, target: Target) -> ProbeResult:
        """Probe a server; raises ``UnreachableError`` if it does not accept connections."""
        return await probe(target, PROBE_SECONDS * self.settings.patience)

    async def cases(self, cases: Sequence[Case]) -> list[Verdict]:
        """Run cases, or skip them with a reason; returns a verdict for each, in their order.

        Raises ``NotStartedError`` if no server started.
        """
        runnable: list[Case] = []
        for case in cases:
            reason = skip_reason(case, self.settings)
            if reason is None:
                runnable.append(case)
            else:
                self._held_back.append(Verdict(case=case, kind=VerdictKind.SKIP, reason=reason))
        if self.settings.start is None:
            self._release(started=True)
            await self.run_on_live_server(runnable)
        else:
            with TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
                await self._run_on_servers(Path(folder), runnable)
            if self._failed_start is not None and not self._started:
                self.problems.clear()  # the error reports them
                raise self._failed_start
            self._release(started=True)
        return sorted(self.verdicts, key=lambda verdict: verdict.case.number)

    def _add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        self._on_verdict(verdict)

    async def run_on_live_server(self, cases: Sequence[Case]) -> None:
        if self.target is None:
            return
        live = LiveServer(self.target, self.settings.patience)
        self.settings = dataclasses.replace(
            self.settings, namespace=SHARED_NAMESPACE, order_config=await live.order_config()
        )
        if any(stores_kv(case) for case in cases):
            self.traces.namespaces.add(SHARED_NAMESPACE)
        await live.remove_entries()
        configuring = [case for case in cases if case.live]
        configuration = await live.configuration() if configuring else {}
        try:
            await self.run_all([case for case in cases if not case.live], self.target)
            # What they configure would disturb others.
            await self.run_all(configuring, self.target, 1)
        finally:
            self.left_behind += await live.clean_up(self.traces, configuration)

    async def _run_on_servers(self, folder: Path, cases: Sequence[Case]) -> None:
        # Run cases on started servers, one server after another until the first has started
        async with trio.open_nursery() as nursery:
            for index, (setup, members) in enumerate(groups(cases)):
                arguments = (folder / str(index), setup, members)
                if self._started:
                    nursery.start_soon(self._run_on_new_server, *arguments)
                elif self._fatal_error is None:
                    await nursery.start(self._run_on_new_server, *arguments)

    async def _run_on_new_server(
        self,
        folder: Path,
        setup: ServerSetup,
        cases: Sequence[Case],
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        async with self._servers:
            complete = dataclasses.replace(setup, options=(*self.settings.options, *setup.options))
            target = StartedTarget(
                self.settings.start or "",
                folder,
                complete,
                self.settings.home,
                self.settings.patience,
            )
            try:
                reason = await self._start(target)
                task_status.started()
                if reason is None:
                    await self.run_all(cases, target)
                    return
                self._held_back += [
                    Verdict(case=case, kind=VerdictKind.ERROR, reason=reason) for case in cases
                ]
                self._release()
            finally:
                await target.stop(kill=True)

    async def _start(self, target: StartedTarget) -> str | None:
        """Start a server; returns why it failed, or None.

        No other server is started after an invalid command, a server that never listened (each
        attempt takes a minute), or a failure without special setup.
        """
        default = ServerSetup(options=self.settings.options)
        if self._fatal_error is not None:
            return f"not started after an earlier failure: {self._fatal_error}"
        try:
            await target.start()
        except NotStartedError as error:
            self._failed_start = self._failed_start or error
            if isinstance(error, (CommandError, NeverListenedError)) or target.setup == default:
                self._fatal_error = error
            self.problems.append(f"a server{target.description} did not start: {error.details}")
            return f"the server did not start: {error}"
        if not self.version:
            with suppress(UnreachableError):
                self.version = (await self.probe(target)).version
        self._release(started=True)
        return None

    def _release(self, *, started: bool = False) -> None:
        # Publish the held-back verdicts if a server has started
        self._started = self._started or started
        if self._started:
            held_back, self._held_back = self._held_back, []
            for verdict in held_back:
                self._add(verdict)

    async def run_all(
        self,
        cases: Sequence[Case],
        target: Target,
        at_once: int = MAX_CONCURRENT_CASES,
    ) -> None:
        cases = sorted(cases, key=lambda case: "slow" not in case.tags)  # they mostly wait
        waiting = deque(cases)
        exclusive: deque[Case] = deque()
        if self.settings.namespace:  # cases list its entries, so only one may use it at a time
            exclusive.extend(filter(stores_kv, cases))
            waiting = deque(case for case in cases if not stores_kv(case))

        async def work(*queues: deque[Case]) -> None:
            for queue in queues:
                while queue:
                    await self._run_one(queue.popleft(), target)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(work, exclusive, waiting)
            for _ in range(at_once - 1):
                nursery.start_soon(work, waiting)

    async def _run_one(self, case: Case, target: Target) -> None:
        lost = self._lost.get(target)
        if lost is not None:
            self._add(Verdict(case=case, kind=VerdictKind.ERROR, reason=lost))
            return
        verdict = await run_case(case, target, self.settings, self.traces)
        self._add(verdict)
        if verdict.kind in {VerdictKind.FAIL, VerdictKind.ERROR}:
            await self._check_target(target)

    async def _check_target(self, target: Target) -> None:
        try:
            wrong = (await self.probe(target)).wrong
        except UnreachableError as error:
            wrong = f"is unreachable: {error}"
        if wrong is not None:
            self._lost[target] = f"the target {wrong}"


PROBE_SECONDS: Final = 5.0
_CLUSTERS: Final = RemotingCommand(code=106, opaque=77)
# ``GET_BROKER_RUNTIME_INFO``, which only brokers answer.
_BROKER_RUNTIME: Final = RemotingCommand(code=28, opaque=78)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    wrong: str | None  # why no case can be run; None if cases can be run
    version: str = ""  # version in the response, such as ``V5_5_0``; empty without a response


async def probe(target: Target, seconds: float = PROBE_SECONDS) -> ProbeResult:
    """Request the list of clusters; raises ``UnreachableError``."""
    return await examine(target, _examine, seconds)


async def examine(
    target: Target, ask: Callable[[RawConnection, float], Awaitable[ProbeResult]], seconds: float
) -> ProbeResult:
    """Ask over a new connection; raises ``UnreachableError`` if it cannot be opened."""
    try:
        link = await connect("probe", target.address, seconds)
    except OSError as error:
        raise UnreachableError(f"{target.address}: {error}") from error
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.read)
            probed = await ask(link, seconds)
            nursery.cancel_scope.cancel()
    finally:
        await link.close()
    return probed


async def _examine(link: RawConnection, seconds: float) -> ProbeResult:
    arrival = await receive(link, _CLUSTERS, seconds)
    if arrival is None:
        return ProbeResult(f"accepts connections, but does not respond within {seconds:g} s")
    if arrival.kind == "end":
        return ProbeResult(f"accepts connections, but closes them ({arrival.reason})")
    command = arrival.command
    if command is None:
        return ProbeResult(f"responds with an invalid frame ({arrival.reason})")
    if command.opaque != _CLUSTERS.opaque:
        return ProbeResult("responds with an unknown opaque")
    if command.code != 0:
        of_broker = await response(link, _BROKER_RUNTIME, seconds)
        if of_broker is not None and of_broker.code == 0:
            return ProbeResult(
                "is a broker, not a name server; give the address of its name server"
            )
    return ProbeResult(None, version_name(command.version))


async def receive(link: RawConnection, request: RemotingCommand, seconds: float) -> Arrival | None:
    """Send a request and await anything but a request; None for nothing in time."""
    await link.send(encode(request))
    with trio.move_on_after(seconds):
        return await link.next(lambda arrival: arrival.kind != "request")
    return None


async def response(
    link: RawConnection, request: RemotingCommand, seconds: float
) -> RemotingCommand | None:
    """The response to a request; None for anything else, or nothing in time."""
    arrival = await receive(link, request, seconds)
    return None if arrival is None else arrival.command


def version_name(number: int) -> str:
    """The name of a version, such as ``V5_5_0``; its number if it has none."""
    return next((version.name for version in MQVersion if version == number), str(number))
