"""``CaseRun``: executes one case against one target."""

from __future__ import annotations

import dataclasses
import errno
import json
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire.errors import DecodeError
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.json import fastjson
from rocketwire_tools.conformance.model.outcomes import Outcome, Silence
from rocketwire_tools.conformance.model.steps import (
    CHECKSUM,
    Ask,
    Call,
    Close,
    Expect,
    Listen,
    Open,
    Packed,
    Reply,
    Request,
    Restart,
    Send,
    Sendable,
    Step,
    Until,
    Wait,
)
from rocketwire_tools.conformance.model.wording import describe_outcome, request_name
from rocketwire_tools.conformance.run.match import (
    belongs,
    byte_for_byte,
    deciding_kinds,
    extract,
    mismatch,
)
from rocketwire_tools.conformance.run.raw_connection import (
    Arrival,
    RawConnection,
    connect,
    tls_context,
)
from rocketwire_tools.conformance.run.target import StartedTarget, Target
from rocketwire_tools.conformance.run.verdict import Exchange, Observation, arrival_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.model.steps import Frame, Saved

REGISTER: Final = 103
_PUT_KV: Final = 100
# Request codes that store data, and the code that removes it.
_REMOVALS: Final = {REGISTER: 104, _PUT_KV: 102, 217: 216}


@dataclass(slots=True)
class Traces:
    namespaces: set[str] = field(default_factory=set[str])  # KV namespaces with stored entries
    # requests that remove data and are not answered yet
    pending: list[Request] = field(default_factory=list[Request])
    # by broker name and cluster, the request that unregisters the broker there
    clusters: dict[str, dict[str, Request]] = field(default_factory=dict[str, dict[str, Request]])

    def note(self, request: Request) -> None:
        if request.code not in _REMOVALS:
            return
        fields = request.ext or {}
        removal = Request(code=_REMOVALS[request.code], ext=request.ext)
        if removal not in self.pending:
            self.pending.append(removal)
        name, cluster = fields.get("brokerName"), fields.get("clusterName")
        if request.code == REGISTER and name and cluster:
            self.clusters.setdefault(name, {})[cluster] = removal
        if request.code == _PUT_KV and "namespace" in fields:
            self.namespaces.add(fields["namespace"])

    def in_several_clusters(self) -> list[tuple[str, Request]]:
        """Brokers registered in several clusters, with the unregistration for each cluster.

        Java's server removes the name from one cluster only, that of the request or of the first
        registration (``RouteInfoManager.unRegisterBroker``). The broker must be registered and
        unregistered once more in each cluster.
        """
        return [
            (name, request)
            for name, requests in self.clusters.items()
            if len(requests) > 1
            for request in requests.values()
        ]


MAX_EXCHANGES: Final = 400
# Maximum bytes of each message in the evidence.
MAX_EVIDENCE_BYTES: Final = 65_536

_ATTEMPTS: Final = 100
# Seconds between the requests of ``Until``.
_INTERVAL: Final = 0.05
_CLEAN_UP_SECONDS: Final = 10.0


class CaseFailedError(Exception):
    def __init__(self, reason: str, acceptable: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.acceptable = acceptable


class UnreachableError(Exception):
    """The target does not accept connections."""


class CaseRun:
    def __init__(
        self,
        target: Target,
        names: Names,
        nursery: trio.Nursery,
        *,
        patience: float = 1.0,
        keep_going: bool = False,
        order_config: object = None,
    ) -> None:
        """A run without connections; its receiving tasks are in ``nursery``.

        ``keep_going`` only records unacceptable outcomes, as for ``diff``. ``order_config`` is the
        order configuration that exists on the server, as JSON: servers add it to all responses to
        registrations, so it is ignored there.
        """
        self.target = target
        self.names = names  # the names of this run
        self.exchanges: list[Exchange] = []  # the evidence so far
        self.observations: list[Observation] = []  # results of the awaiting steps so far
        self._nursery = nursery
        self._patience = patience
        self._keep_going = keep_going
        self._order_config = order_config
        self._links: dict[str, RawConnection] = {}
        self._opened: list[RawConnection] = []
        self._listeners: dict[str, trio.SocketListener] = {}
        self._asked: dict[str, int] = {}
        self.traces = Traces()  # data that its requests stored and that is not removed yet
        self._step = ""

    async def run(self, *steps: Step) -> None:
        """Execute steps; raises ``CaseFailedError`` or ``UnreachableError``."""
        for index, step in enumerate(steps, 1):
            self._step = f"{index} {type(step).__name__}"
            await self._run_step(step)
            self._check_frames()

    def _check_frames(self) -> None:
        # Fail if the server has sent a frame that breaks a rule, also one that no step awaits
        for link in self._opened:
            while link.violations:
                arrival = link.violations.pop(0)
                self.note("<", arrival_text(arrival), arrival.data, link.name)
                self.fail(f"a frame of the server is wrong: {arrival.violation}")

    def fail(self, reason: str, acceptable: tuple[str, ...] = ()) -> None:
        """Raise ``CaseFailedError``; with ``keep_going`` only record the reason."""
        self.note("!", reason)
        if not self._keep_going:
            raise CaseFailedError(reason, acceptable)

    def note(self, direction: str, text: str, data: bytes = b"", link: str = "") -> None:
        if len(self.exchanges) < MAX_EXCHANGES:
            self.exchanges.append(Exchange(link, direction, text, data[:MAX_EVIDENCE_BYTES]))

    async def link(self, name: str) -> RawConnection:
        """The connection with this name; it is opened if necessary (``UnreachableError``)."""
        if name not in self._links:
            await self._open(Open(on=name))
        return self._links[name]

    async def request(self, request: Request, on: str = "main", *, quiet: bool = False) -> Arrival:
        """Send a request and await any response to it or the end of the connection.

        ``quiet`` leaves it out of the evidence. Raises ``CaseFailedError`` if nothing arrives, and
        ``UnreachableError`` if the connection cannot be opened.
        """
        link = await self.link(on)
        opaque, data = self._encode(request, link)
        await self._send(link, data, f"request {request_name(request.code)}", quiet=quiet)
        with trio.move_on_after(5 * self._patience):
            return await link.next(lambda arrival: belongs(arrival, opaque))
        raise CaseFailedError(f"no response to request {request_name(request.code)}")

    def server(self) -> StartedTarget:
        """The started server; raises ``CaseFailedError`` if the suite did not start the target."""
        if not isinstance(self.target, StartedTarget):
            raise CaseFailedError("this case needs --start")
        return self.target

    async def clean_up(self, *steps: Step) -> None:
        """Close all connections, execute the cleanup steps and remove the data of the requests.

        It also works in a cancelled task, so that an interrupted run cleans up completely. Requests
        that failed stay in ``traces.pending``. Raises ``CaseFailedError`` if a step has failed.
        """
        failure: CaseFailedError | None = None
        with trio.CancelScope(shield=True):
            await self.close()
            for listener in self._listeners.values():
                await listener.aclose()
            self._listeners.clear()
            # The nursery of the case may be cancelled already, and its tasks with it.
            async with trio.open_nursery() as self._nursery:
                with trio.move_on_after(_CLEAN_UP_SECONDS * self._patience):
                    try:
                        await self.run(*steps)
                    except CaseFailedError as error:
                        failure = error
                    except UnreachableError:
                        pass  # the requests below fail too and stay pending
                    await self._remove_data()
                await self.close()
                self._nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _remove_data(self) -> None:
        # Send the requests that remove data; answered ones are no longer pending
        for request in list(self.traces.pending):
            try:
                await self.request(request, "clean-up")
            except (UnreachableError, CaseFailedError):
                await self._close(Close("clean-up"))
            else:
                self.traces.pending.remove(request)
        with suppress(UnreachableError, CaseFailedError):
            for name, request in self.traces.in_several_clusters():
                for _ in range(_ATTEMPTS):  # unregistration is asynchronous since 5.x
                    if not await self._lists_broker(name):
                        break
                    await trio.sleep(0.05)
                registration = dataclasses.replace(request, code=REGISTER)
                await self.request(registration, "clean-up")
                await self.request(request, "clean-up")

    async def _lists_broker(self, name: str) -> bool:
        command = (await self.request(Request(code=106), "clean-up")).command
        return command is not None and f'"{name}":{{'.encode() in (command.body or b"")

    async def close(self) -> None:
        for link in self._links.values():
            await link.close()
        self._links.clear()

    async def _run_step(self, step: Step) -> None:
        handlers: dict[type, Callable[[Any], Awaitable[None]]] = {
            Open: self._open,
            Listen: self._listen,
            Send: self._send_step,
            Expect: self._expect,
            Ask: self._ask,
            Until: self._until,
            Reply: self._reply,
            Close: self._close,
            Wait: self._wait,
            Restart: self._restart,
            Call: self._call,
        }
        await handlers[type(step)](step)

    async def _wait(self, step: Wait) -> None:
        await trio.sleep(step.seconds)

    async def _call(self, step: Call) -> None:
        await step.function(self)

    async def _open(self, step: Open) -> None:
        address, seconds = self.target.address, 5 * self._patience
        tls = None if step.tls is None else tls_context(step.tls, step.shows, step.trusts)
        try:
            link = await connect(step.on, address, seconds, preamble=step.preamble, tls=tls)
        except OSError as error:
            too_late = isinstance(error, TimeoutError)
            if step.refused and not too_late:
                return
            if step.tls and not too_late:
                self.fail(f"the connection was not opened: {error}")
                return
            raise UnreachableError(f"{address}: {error}") from error
        self._add_link(link)
        if step.refused:
            self.fail("the connection was opened")

    def _add_link(self, link: RawConnection) -> None:
        link.rules = self.target.rules
        self._links[link.name] = link
        self._opened.append(link)
        self._nursery.start_soon(link.read)

    async def _listen(self, step: Listen) -> None:
        host, _, port = self.names.text(step.address).partition(":")
        for attempt in range(_ATTEMPTS, 0, -1):
            try:
                (self._listeners[step.on],) = await trio.open_tcp_listeners(int(port), host=host)
            except OSError as error:
                # The same case may run with another server and the same addresses.
                if error.errno != errno.EADDRINUSE or attempt == 1:
                    raise CaseFailedError(f"cannot listen on {host}:{port}: {error}") from error
                await trio.sleep(0.1)
            else:
                return

    async def _accept(self, step: Expect) -> None:
        quiet = next((outcome for outcome in step.outcomes if isinstance(outcome, Silence)), None)
        limit = step.within * self._patience if quiet is None else quiet.seconds
        with trio.move_on_after(limit):
            stream = await self._listeners[step.on].accept()
            self._add_link(RawConnection(step.on, stream, stream))
            return
        self.note("<", f"no connection for {limit:g} s", link=step.on)
        self.observations.append(Observation(step=self._step, arrival=None))
        if quiet is None:
            self.fail(
                f"no connection within {limit:g} s", tuple(map(describe_outcome, step.outcomes))
            )

    async def _send_step(self, step: Send) -> None:
        link = await self.link(step.on)
        data = b"".join([self._encode(part, link)[1] for part in step.parts])
        pieces = step.pieces or len(data) or 1
        for start in range(0, len(data), pieces):
            if start and step.pause:
                await trio.sleep(step.pause)
            piece = data[start : start + pieces]
            if not await self._send(link, piece, f"{len(piece)} bytes", quiet=bool(start)):
                return

    async def _expect(self, step: Expect) -> None:
        if step.on in self._listeners and step.on not in self._links:
            await self._accept(step)
            if step.on not in self._links:
                return
        link = await self.link(step.on)
        opaques = {getattr(outcome, "opaque", None) for outcome in step.outcomes}
        opaque = None if len(opaques) > 1 or link.sent_literally else opaques.pop()
        arrival = await self._decide(link, step.outcomes, opaque, step.within)
        self._save(step.save, arrival)

    async def _ask(self, step: Ask) -> None:
        link = await self.link(step.on)
        opaque, data = self._encode(step.request, link)
        await self._send(link, data, f"request {request_name(step.request.code)}")
        arrival = await self._decide(link, step.outcomes, opaque, step.within)
        self._save(step.save, arrival)

    async def _until(self, step: Until) -> None:
        started = trio.current_time()
        deadline = started + step.within * self._patience
        repeated = False
        while True:
            arrival = await self.request(step.request, step.on, quiet=repeated)
            repeated = True
            wrong = mismatch(step.outcome, arrival, self.names)
            now = trio.current_time()
            if wrong is None and now - started < step.not_before:
                self.fail(f"arrived after {now - started:.2f} s, before {step.not_before:g} s")
            if wrong is None or now > deadline or arrival.kind == "end":
                break
            await trio.sleep(_INTERVAL)
        self.note("<", arrival_text(arrival), arrival.data, step.on)
        self._observe(arrival, exact=byte_for_byte((step.outcome,)))
        if wrong is not None:
            waited = f"not within {step.within * self._patience:g} s: {wrong}"
            self.fail(waited, (describe_outcome(step.outcome),))
        self._save(step.save, arrival)

    def _save(self, paths: Saved, arrival: Arrival | None) -> None:
        for name, path in paths.items():
            try:
                self.names.saved[name] = extract(path, arrival)
            except LookupError as error:
                self.fail(f"{path}: missing in the arrival ({error})")

    async def _reply(self, step: Reply) -> None:
        link = await self.link(step.on)
        if step.on not in self._asked:
            self.fail(f"the server has sent no request on connection {step.on!r}")
            return
        body = None if step.body is None else self.names.text(step.body).encode()
        answer = RemotingCommand(
            code=step.code, opaque=self._asked[step.on], flag=CommandFlag.RESPONSE, body=body
        )
        await self._send(link, encode(answer), f"response with code {step.code}")

    async def _close(self, step: Close) -> None:
        link = self._links.pop(step.on, None)
        if link is not None:
            self.note("!", "reset by us" if step.reset else "closed by us", link=step.on)
            await link.close(reset=step.reset)

    async def _restart(self, step: Restart) -> None:
        server = self.server()
        await self.close()
        await server.stop()
        await server.start()
        self.note("!", "restarted")

    async def _send(
        self, link: RawConnection, data: bytes, what: str, *, quiet: bool = False
    ) -> bool:
        if not quiet:
            self.note(">", what, data, link.name)
        with trio.move_on_after(10 * self._patience):
            return await link.send(data)
        return False

    def _encode(self, part: Sendable, link: RawConnection) -> tuple[int | None, bytes]:
        # The opaque and the bytes of data to send; None as opaque if it is not a ``Request``
        if not isinstance(part, Request):
            link.sent_literally = True
            return None, literal_bytes(part, self.names)
        request = with_names(part, self.names)
        opaque = request.opaque
        if opaque is None:
            opaque, link.next_opaque = link.next_opaque, link.next_opaque + 1
        link.note(request, opaque)
        self.traces.note(request)
        return opaque, request_bytes(request, opaque)

    async def _decide(
        self,
        link: RawConnection,
        outcomes: Sequence[Outcome],
        opaque: int | None,
        within: float,
    ) -> Arrival | None:
        quiet = next((outcome for outcome in outcomes if isinstance(outcome, Silence)), None)
        kinds = deciding_kinds(outcomes)
        limit = within * self._patience if quiet is None else quiet.seconds
        arrival = None
        with trio.move_on_after(limit):
            arrival = await link.next(
                lambda outcome: (
                    outcome.kind in kinds and (quiet is not None or belongs(outcome, opaque))
                )
            )
        if arrival is None:
            self._report_silence(link, outcomes, limit)
            return None
        self.note("<", arrival_text(arrival), arrival.data, link.name)
        if arrival.kind == "request" and arrival.command is not None:
            self._asked[link.name] = arrival.command.opaque
        arrival = self._without_order_config(arrival)
        self._observe(arrival, exact=byte_for_byte(outcomes))
        reasons = [mismatch(outcome, arrival, self.names) for outcome in outcomes]
        if None not in reasons:
            reason = "; or ".join(dict.fromkeys(str(outcome) for outcome in reasons))
            self.fail(reason, tuple(map(describe_outcome, outcomes)))
        return arrival

    def _without_order_config(self, arrival: Arrival) -> Arrival:
        # The arrival without the order configuration that exists on the server
        command = arrival.command
        if self._order_config is None or command is None or not command.body:
            return arrival
        try:
            if fastjson.loads(command.body) != self._order_config:
                return arrival
        except DecodeError:
            return arrival
        return dataclasses.replace(arrival, command=dataclasses.replace(command, body=None))

    def _report_silence(
        self, link: RawConnection, outcomes: Sequence[Outcome], limit: float
    ) -> None:
        self.note("<", f"nothing for {limit:g} s", link=link.name)
        self.observations.append(Observation(step=self._step, arrival=None))
        if any(isinstance(outcome, Silence) for outcome in outcomes):
            return
        for stray in link.arrivals:
            self.note("<", f"unexpected: {arrival_text(stray)}", stray.data, link.name)
        strays = f", but {len(link.arrivals)} unexpected" if link.arrivals else ""
        self.fail(
            f"nothing arrived within {limit:g} s{strays}", tuple(map(describe_outcome, outcomes))
        )

    def _observe(self, arrival: Arrival, *, exact: bool) -> None:
        code = None if arrival.request is None else arrival.request.code
        self.observations.append(
            Observation(step=self._step, arrival=arrival, exact=exact, request_code=code)
        )


def _literal(data: bytes | str, names: Names) -> bytes:
    return names.text(data).encode() if isinstance(data, str) else data


def frame_bytes(frame: Frame, names: Names) -> bytes:
    """Encode a frame of literal bytes; an explicit length of the header is written unchanged."""
    header, body = _literal(frame.header, names), _literal(frame.body, names)
    header_length = len(header) if frame.header_length is None else frame.header_length
    mark = frame.type << 24 | header_length & 0xFFFFFF
    return struct.pack(">II", 4 + len(header) + len(body), mark) + header + body


def with_names(request: Request, names: Names) -> Request:
    ext, body = request.ext, _body(request, names)
    if ext is not None:
        checksum = str(zlib.crc32(body or b"") & 0x7FFFFFFF)  # UtilAll.crc32 @ 5.5.0
        ext = {key: names.text(text).replace(CHECKSUM, checksum) for key, text in ext.items()}
    return replace(request, ext=ext, body=body)


def _body(request: Request, names: Names) -> bytes | None:
    body = request.body
    if isinstance(body, Packed):
        return body.encode(names)
    if isinstance(body, str):
        body = names.text(body).encode()
    elif body is not None and not isinstance(body, bytes):
        text = json.dumps(names.value(body), separators=(",", ":"), ensure_ascii=False)
        body = text.encode()
    return body


def request_bytes(request: Request, opaque: int) -> bytes:
    body = request.body
    return encode(
        RemotingCommand(
            code=request.code,
            language=LanguageCode.JAVA,
            version=request.version,
            opaque=opaque,
            flag=request.flag,
            ext_fields=request.ext,
            body=body if isinstance(body, bytes) else None,
            serialize_type=SerializeType.ROCKETMQ if request.binary else SerializeType.JSON,
        )
    )


def literal_bytes(part: bytes | Frame, names: Names) -> bytes:
    return part if isinstance(part, bytes) else frame_bytes(part, names)
