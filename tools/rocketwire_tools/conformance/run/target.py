"""The server under test: a running one, or one that the suite starts and configures."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import trio

from rocketwire.codes import LanguageCode, SerializeType
from rocketwire_tools.conformance.model.placeholders import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand
    from rocketwire.wire.frame import RawFrame
    from rocketwire_tools.conformance.model.steps import Request

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
CONFIG_FILE: Final = "namesrv.properties"
# Maximum characters of a server's output in a message.
MAX_OUTPUT: Final = 2000
KV_FILE: Final = "kvConfig.json"
OUTPUT_FILE: Final = "output.txt"
# Test certificates: an authority, a server and a client signed by it for 127.0.0.1, and an
# untrusted client. Their keys are public.
CERTIFICATES: Final = Path(__file__).with_name("certificates")


class NotStartedError(Exception):
    def __init__(self, reason: str, output: str = "") -> None:
        super().__init__(reason)
        self.output = output  # the end of its output

    @property
    def details(self) -> str:
        lines = "".join(f"\n    {line}" for line in self.output.splitlines())
        return f"{self}; its last output:{lines}" if lines else str(self)


class CommandError(NotStartedError):
    """The start command cannot be run, for example because the program does not exist."""


class NeverListenedError(NotStartedError):
    """Nothing listens on the port; probably the command does not use ``{config}`` or ``{port}``."""


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class Target:
    def __init__(self, address: Address) -> None:
        self.address = address
        self.rules = FrameRules()  # the rules of its frames


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSetup:
    # properties in addition to the port and the path of the KV file
    options: tuple[tuple[str, str], ...] = ()
    jvm: tuple[str, ...] = ()  # system properties
    kv: str | None = None  # content of the KV file; None for no file
    files: tuple[str, ...] = ()  # names of files in ``CERTIFICATES`` to copy to its folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    status: int | None  # exit status; negative for a signal, None if it was killed after a timeout
    out: str


class StartedTarget(Target):
    """A server that the suite starts in its own folder.

    The command is split like in a shell. Placeholders: ``{port}`` is the port, ``{config}`` a
    properties file with ``listenPort``, ``kvConfigPath`` and the options of the case, ``{kv}`` the
    KV file, ``{home}`` the folder (also the working directory), and the word ``{jvm}`` the system
    properties as separate words. The environment has them as ``JAVA_OPT_EXT``, and
    ``ROCKETMQ_HOME``.
    """

    def __init__(
        self,
        command: str,
        folder: Path,
        setup: ServerSetup | None = None,
        home: Path | None = None,
        patience: float = 1.0,
    ) -> None:
        """Create the folder and copy ``home`` there; ``start`` starts the server."""
        super().__init__(Address(LOOPBACK, free_port()))
        self.folder = folder
        self._command = command
        self.setup = setup or ServerSetup()
        self._home = home
        self._patience = patience
        self._launched = 0
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if home is not None:
            shutil.copytree(home, folder, dirs_exist_ok=True)
        if self.setup.kv is not None:
            self.write_kv(self.setup.kv)
        for name in self.setup.files:
            shutil.copy(CERTIFICATES / name, folder)

    @property
    def description(self) -> str:
        """Its properties and system properties as `` with ...``; empty if there are none."""
        words = [f"{name}={value}" for name, value in self.setup.options]
        return " with " + " ".join([*words, *self.setup.jvm]) if words else ""

    def write_kv(self, text: str) -> None:
        (self.folder / KV_FILE).write_text(text, "utf-8")

    def read(self, name: str) -> str | None:
        """The text of a file in its folder; None if it does not exist."""
        path = self.folder / name
        return path.read_text("utf-8") if path.exists() else None

    @property
    def output(self) -> str:
        path = self.folder / OUTPUT_FILE
        return path.read_text("utf-8", "replace") if path.exists() else ""

    async def start(self) -> None:
        """Start the server and wait until it accepts connections.

        Raises ``CommandError`` if the command cannot be run, ``NeverListenedError`` if nothing
        listens on the port within a minute, times the patience, and ``NotStartedError`` if the
        program ended.
        """
        self._write_config({})
        self._process = self._spawn(self.words())
        seconds = START_SECONDS * self._patience
        with trio.move_on_after(seconds):
            while not await self._listens():
                status = self._process.poll()
                if status is not None:
                    raise NotStartedError(_describe_end(status), self._last_output)
                await trio.sleep(0.02)
            return
        await self.stop(kill=True)
        raise NeverListenedError(
            f"nothing listens on {self.address} after {seconds:g} s", self._last_output
        )

    @property
    def _last_output(self) -> str:
        return self.output[-MAX_OUTPUT:].strip()

    async def stop(self, *, kill: bool = False) -> int | None:
        """Stop it; returns its exit status (negative for a signal), None if it does not run."""
        process, self._process = self._process, None
        if process is None:
            return None
        number = signal.SIGKILL if kill else signal.SIGTERM
        return await _end(process, number, STOP_SECONDS * self._patience)

    def terminate(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGTERM)

    async def launch(
        self,
        arguments: Sequence[str] | None = None,  # replace all words from ``-c``; None to keep them
        *,
        without: Sequence[str] = (),  # variables to remove
        options: Mapping[str, str] | None = None,  # additional properties
        kv: str | None = None,  # content of the KV file; None to keep it
        until: str | None = None,  # output text after which the process is stopped
    ) -> ProcessResult:
        """Run the command again with the same port in a new folder, and await its end.

        After a minute, times the patience, it is killed.
        """
        self._launched += 1
        folder = self.folder / f"launch{self._launched}"
        twin = StartedTarget(self._command, folder, self.setup, self._home, self._patience)
        twin.address = self.address
        if kv is not None:
            twin.write_kv(kv)
        twin._write_config(options or {})
        process = twin._spawn(twin.words(arguments), without)
        status = None
        with trio.move_on_after(START_SECONDS * self._patience):
            status = await twin._wait_for_end(process, until)
        if status is None:
            await _end(process, signal.SIGKILL, STOP_SECONDS)
        return ProcessResult(status=status, out=twin.output)

    async def _wait_for_end(
        self, process: subprocess.Popen[bytes], until: str | None
    ) -> int | None:
        while (status := process.poll()) is None:
            if until is not None and until in self.output:
                return None
            await trio.sleep(0.05)
        return status

    def words(self, arguments: Sequence[str] | None = None) -> list[str]:
        replacements = {
            "{port}": str(self.address.port),
            "{config}": CONFIG_FILE,
            "{kv}": KV_FILE,
            "{home}": str(self.folder),
        }
        words: list[str] = []
        for word in shlex.split(self._command):
            if word == "-c" and arguments is not None:
                break
            if word == "{jvm}":
                words += self.setup.jvm
                continue
            for name, text in replacements.items():
                word = word.replace(name, text)
            words.append(word)
        return words + list(arguments or ())

    def _write_config(self, extra: Mapping[str, str]) -> None:
        settings = {
            "listenPort": str(self.address.port),
            "bindAddress": LOOPBACK,
            "kvConfigPath": KV_FILE,
        }
        settings |= {**dict(self.setup.options), **extra}
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / CONFIG_FILE).write_text(text, "utf-8")

    def _spawn(self, words: Sequence[str], without: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        variables = {
            **os.environ,
            "ROCKETMQ_HOME": str(self.folder),
            "JAVA_OPT_EXT": " ".join(self.setup.jvm),
        }
        for name in without:
            variables.pop(name, None)
        with (self.folder / OUTPUT_FILE).open("ab") as output:
            try:
                return subprocess.Popen(  # noqa: S603 - the operator's own command
                    list(words),
                    cwd=self.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            except OSError as error:
                raise CommandError(f"cannot run {words[0]!r}: {error.strerror}") from error

    async def _listens(self) -> bool:
        try:
            stream = await trio.open_tcp_stream(self.address.host, self.address.port)
        except OSError:
            return False
        await stream.aclose()
        return True


def _describe_end(status: int) -> str:
    if status >= 0:
        return f"the program ended with status {status} before it listened"
    return f"the program was killed by {signal.Signals(-status).name} before it listened"


async def _end(process: subprocess.Popen[bytes], number: signal.Signals, seconds: float) -> int:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    with trio.CancelScope(shield=True), trio.move_on_after(seconds):
        await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


_REQUIRED: Final[dict[str, type]] = {
    "code": int,
    "flag": int,
    "language": str,
    "opaque": int,
    "version": int,
}
_OPTIONAL: Final[dict[str, type]] = {
    "remark": str,
    "extFields": dict,
    "serializeTypeCurrentRPC": str,
}
# Maximum version, which is two bytes long in a binary header.
_MAX_VERSION: Final = 2**15 - 1
# Codes that a broker relays to a client, whose response has the client's language and version.
_RELAYED: Final = frozenset({307, 309})
_ROUTE: Final = 105
# Codes whose responses have a JSON body (``DefaultRequestProcessor`` @ 5.5.0).
_JSON_BODIES: Final = frozenset({103, _ROUTE, 106, 206, 219, 224, 304, 311, 312, 313, 322, 901})
# Version of the first clients that get routes in standard JSON (4.9.4).
_STANDARD_SINCE: Final = 401
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# An integer, or the null of a broker without a name, which 4.9.4 writes.
_BARE_KEY: Final = re.compile(r"(?<=[{,])(?:-?\d+|null)(?=:)")
_QUOTED_INTEGER_KEY: Final = re.compile(r'"(?:brokerAddrs|currIdMap)":\{"')


class FrameRules:
    """The rules of one server's frames, of which some are: as in its first frame."""

    def __init__(self) -> None:
        self._first: dict[str, object] = {}

    def violation(self, raw: RawFrame, command: RemotingCommand, request: Request | None) -> str:
        """The rule that a frame breaks; empty for none. ``request`` is answered by it, if known."""
        return (
            (_header_violation(raw.header) if raw.header_type == SerializeType.JSON else "")
            or _version_violation(command)
            or (
                "" if request is not None and request.code in _RELAYED else self._find_edit(command)
            )
            or _flag_violation(command)
            or _body_violation(command, request)
        )

    def _find_edit(self, command: RemotingCommand) -> str:
        for name, value in (("language", command.language), ("version", command.version)):
            first = self._first.setdefault(name, value)
            if value != first:
                return f"{name}: {value}, but {first} in the server's first frame"
        return ""


def _header_violation(header: bytes) -> str:
    try:
        value = _standard_json(header)
    except (ValueError, RecursionError) as error:
        return f"header: not standard JSON ({error})"
    if not isinstance(value, dict):
        return "header: not an object"
    members = cast("dict[str, Any]", value)
    for name, kind in (_REQUIRED | _OPTIONAL).items():
        if name not in members:
            if name in _REQUIRED:
                return f"{name}: missing"
        elif type(members[name]) is not kind:
            return f"{name}: {members[name]!r} is not of type {kind.__name__}"
    if members["language"] not in LanguageCode.__members__:
        return f"language: {members['language']!r} is unknown"
    if members.get("serializeTypeCurrentRPC", "JSON") != "JSON":
        return f"serializeTypeCurrentRPC: {members['serializeTypeCurrentRPC']!r} in a JSON header"
    fields: dict[str, object] = members.get("extFields", {})
    wrong = [name for name, text in fields.items() if type(text) is not str]
    return f"ext: the values of {wrong} are no strings" if wrong else ""


def _version_violation(command: RemotingCommand) -> str:
    if not isinstance(command.language, LanguageCode) or not command.language.is_known:
        return f"language: {command.language} is unknown"
    is_version = 0 < command.version <= _MAX_VERSION
    return "" if is_version else f"version: {command.version} is no version"


def _flag_violation(command: RemotingCommand) -> str:
    if command.is_response:
        return "" if command.flag == 1 else f"flag: {command.flag} instead of 1 in a response"
    return "" if command.flag in {0, 2} else f"flag: {command.flag} in a request"


def _body_violation(command: RemotingCommand, request: Request | None) -> str:
    # Whether a body has the quotation marks that the client understands
    if request is None or request.code not in _JSON_BODIES or command.code or not command.body:
        return ""
    try:
        # A route of one zone has either form (``ZoneRouteRPCHook`` @ 5.5.0).
        is_zoned = (request.ext or {}).get("__ZONE_MODE", "").lower() == "true"
        if request.code == _ROUTE and _wants_standard(request) and not is_zoned:
            _standard_json(command.body)
            return ""
        text = command.body.decode()
        if not is_zoned and _QUOTED_INTEGER_KEY.search(text):
            return "body: an integer key has quotation marks"
        _standard_json(_BARE_KEY.sub('""', _STRING.sub('""', text)).encode(), repeated=True)
    except (ValueError, RecursionError) as error:
        return f"body: not the expected JSON ({error})"
    return ""


def _wants_standard(request: Request) -> bool:
    # Whether a route must be in standard JSON (``ClientRequestProcessor`` @ 5.5.0)
    accepts = (request.ext or {}).get("acceptStandardJsonOnly", "")
    return request.version >= _STANDARD_SINCE or accepts.lower() == "true"


def _standard_json(data: bytes, *, repeated: bool = False) -> object:

    def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) < len(pairs) and not repeated:
            raise ValueError(f"a key is repeated in {[key for key, _ in pairs]}")
        return members

    return json.loads(data.decode(), object_pairs_hook=distinct, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
