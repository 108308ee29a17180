"""``diff``: sends the bytes of the same cases to two servers and compares their behaviour.

It compares code, remark, ext fields, flags, header type, rules of all frames, body, close and
silence. Bodies are compared as JSON with lists in any order, or byte for byte if the case does so.
Of lists of all brokers and topics, only the names of the case are compared.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson
from rocketwire_tools.conformance.model.case import Case, VerdictKind, under
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.executor import UnreachableError
from rocketwire_tools.conformance.run.match import abbreviate, message_values
from rocketwire_tools.conformance.run.target import NotStartedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.conformance.run.raw_connection import Arrival
    from rocketwire_tools.conformance.run.runner import SuiteRun
    from rocketwire_tools.conformance.run.verdict import Observation, Verdict

# Request codes whose responses also list data of other cases.
_SHARED_LISTS: Final = frozenset({106, 206, 224, 304, 311, 312, 313})


_CONFIG: Final = 319
# Lines of the configuration that depend on the server, or that other cases change.
_VARIABLE_LINES: Final = re.compile(
    rb"^(listenPort|rocketmqHome|rocketwire\.[^=\n]*|conformance\.key|productEnvName"
    rb"|serverSelectorThreads)=.*\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Difference:
    case: str  # address of the case
    step: str  # the awaiting step
    # ``code``, ``remark``, ``ext``, ``body``, ``bytes``, ``flag``, ``header``, ``frame`` (a rule of
    # all frames), ``what`` (type of the arrival) or ``course`` (one run ended early)
    field: str
    first: object  # value of the first server
    second: object  # value of the second server

    def __str__(self) -> str:
        values = f"{abbreviate(self.first)} / {abbreviate(self.second)}"
        return f"{self.case} ({self.step}) {self.field}: {values}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDifference:
    case: str  # address or its prefix; ``*`` for all cases
    fields: tuple[str, ...]  # fields that may differ
    reason: str
    # regular expression to find in the first server's value as text; None for any value
    first: str | None = None
    second: str | None = None  # the same for the second server

    def explains(self, difference: Difference) -> bool:
        return (
            (self.case == "*" or under(difference.case, self.case))
            and difference.field in self.fields
            and (self.first is None or re.search(self.first, str(difference.first)) is not None)
            and (self.second is None or re.search(self.second, str(difference.second)) is not None)
        )


# The name of the included file for ``--known``.
ROCKETWIRE: Final = "rocketwire"
# Intended differences between Java's name server 5.5.0 (A) and rocketwire's (B).
KNOWN_FILE: Final = Path(__file__).with_name("known_differences.toml")
# The same for brokers.
KNOWN_BROKER_FILE: Final = Path(__file__).with_name("known_broker_differences.toml")


def read_differences(names: Sequence[str], *, is_broker: bool = False) -> list[KnownDifference]:
    """Read the files of ``--known``; raises ``OSError``, or ``ValueError`` for an invalid file."""
    entries: list[KnownDifference] = []
    for name in names:
        included = KNOWN_BROKER_FILE if is_broker else KNOWN_FILE
        path = included if name == ROCKETWIRE else Path(name)
        try:
            entries += read_known(path.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return entries


def read_known(text: str) -> list[KnownDifference]:
    """Read TOML tables ``[[difference]]``; raises ``ValueError`` if one is invalid."""
    tables: list[dict[str, Any]] = tomllib.loads(text).get("difference", [])
    try:
        return [
            KnownDifference(
                case=table["case"],
                fields=tuple(table["fields"]),
                reason=table["reason"],
                first=table.get("first"),
                second=table.get("second"),
            )
            for table in tables
        ]
    except KeyError as error:
        raise ValueError(f"a difference has no {error}") from error


def compare(first: Verdict, second: Verdict, names: Names) -> list[Difference]:
    case = first.case.id
    if VerdictKind.ERROR in {first.kind, second.kind}:
        if first.kind is second.kind:
            return []
        return [Difference(case, "all", "course", first.reason or "ok", second.reason or "ok")]
    differences: list[Difference] = []
    for first_observation, second_observation in zip(
        first.observations, second.observations, strict=False
    ):
        fields = _fields_of(
            first_observation, second_observation, names, is_broker=case.startswith("broker/")
        )
        differences += [
            Difference(case, first_observation.step, name, *pair)
            for name, pair in fields.items()
            if pair[0] != pair[1]
        ]
    lengths = len(first.observations), len(second.observations)
    if lengths[0] != lengths[1] and not differences:
        differences.append(Difference(case, "all", "course", *lengths))
    return differences


def _fields_of(
    first: Observation, second: Observation, names: Names, *, is_broker: bool = False
) -> dict[str, tuple[object, object]]:
    arrivals = first.arrival, second.arrival
    kinds = _kind(arrivals[0]), _kind(arrivals[1])
    if arrivals[0] is None or arrivals[1] is None or kinds[0] != kinds[1]:
        return {"what": kinds}
    commands = arrivals[0].command, arrivals[1].command
    if commands[0] is None or commands[1] is None:
        return {"bytes": (arrivals[0].data, arrivals[1].data)}
    view = _view_broker if is_broker else _view_name_server
    codes = first.request_code, second.request_code if is_broker else first.request_code
    views = view(commands[0], codes[0], names), view(commands[1], codes[1], names)
    fields = {name: (value, views[1][name]) for name, value in views[0].items()}
    fields["frame"] = arrivals[0].violation, arrivals[1].violation
    if is_broker and same_remarks(*fields["remark"]):
        del fields["remark"]
    if first.exact and not is_broker and fields["body"][0] == fields["body"][1]:
        fields["bytes"] = (
            _body_to_compare(commands[0], codes[0]),
            _body_to_compare(commands[1], codes[1]),
        )
    return fields


def _view_name_server(
    command: RemotingCommand, code: int | None, names: Names
) -> dict[str, object]:
    return {
        "code": command.code,
        "remark": command.remark,
        "ext": None if command.ext_fields is None else dict(command.ext_fields),
        "flag": command.flag,
        "header": command.serialize_type.name,
        "frame": "",
        "body": _body(_body_to_compare(command, code), names, code in _SHARED_LISTS),
    }


def _view_broker(command: RemotingCommand, code: int | None, names: Names) -> dict[str, object]:
    return {
        "code": int(command.code),
        "remark": remark_view(command.code, command.remark),
        "ext": ext_view(command.ext_fields),
        "flag": int(command.flag),
        "header": command.serialize_type.name,
        "frame": "",
        "body": _broker_body(command.body, names, code),
    }


def _body_to_compare(command: RemotingCommand, code: int | None) -> bytes | None:
    # The body; that of a response to 319 without variable lines
    if command.body is None or code != _CONFIG:
        return command.body
    return _VARIABLE_LINES.sub(b"", command.body)


def _broker_body(body: bytes | None, names: Names, code: int | None) -> object:
    if not body:
        return None
    try:
        value: object = fastjson.loads(body)
    except DecodeError:
        try:
            return messages_view(body)
        except DecodeError:
            return None if code in SHARED_LISTS else body
    if code in SHARED_LISTS:
        value = _own(value, names)
    return _canonical(json_view(value))


def _kind(arrival: Arrival | None) -> str:
    return "silence" if arrival is None else arrival.kind


def _body(body: bytes | None, names: Names, own_view: bool) -> object:
    if not body:
        return None
    try:
        value: object = fastjson.loads(body)
    except DecodeError:
        return body
    if own_view and isinstance(value, dict):
        cast("dict[str, object]", value).pop("brokerAddr", None)  # of any broker (304)
    return _canonical(_own(value, names) if own_view else value)


def _own(value: object, names: Names) -> object:
    # The parts of a value that contain names of the case
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {
            key: _own(inner, names)
            for key, inner in members.items()
            if names.mentioned(key) or names.mentioned(str(inner))
        }
    if isinstance(value, list):
        return [inner for inner in cast("list[object]", value) if names.mentioned(str(inner))]
    return value


def _canonical(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {key: _canonical(members[key]) for key in sorted(members)}
    if isinstance(value, list):
        return sorted(map(_canonical, cast("list[object]", value)), key=repr)
    return value


@dataclass(frozen=True, slots=True)
class Comparison:
    unexplained: list[Difference]  # unknown differences
    explained: list[tuple[Difference, KnownDifference]]  # known differences with their entries
    unused: list[KnownDifference]  # entries that did not occur although their cases were run
    played: int  # number of cases that were run on both servers


def judge(
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    run: str,
    known_list: Sequence[KnownDifference] = (),
) -> Comparison:
    by_case = {verdict.case.id: verdict for verdict in second}
    unexplained: list[Difference] = []
    explained: list[tuple[Difference, KnownDifference]] = []
    played: list[str] = []
    for verdict in first:
        counterpart = by_case.get(verdict.case.id)
        if counterpart is None or VerdictKind.SKIP in {verdict.kind, counterpart.kind}:
            continue
        played.append(verdict.case.id)
        for difference in compare(verdict, counterpart, Names(run, verdict.case.number)):
            reason = next((entry for entry in known_list if entry.explains(difference)), None)
            if reason is None:
                unexplained.append(difference)
            else:
                explained.append((difference, reason))
    used = {id(reason) for _, reason in explained}
    unused = [
        entry
        for entry in known_list
        if id(entry) not in used
        and (entry.case == "*" or any(under(case, entry.case) for case in played))
    ]
    return Comparison(unexplained, explained, unused, len(played))


async def play_both(cases: Sequence[Case], runs: Sequence[SuiteRun]) -> None:
    for run in runs:
        wrong = await run.probe_target()
        if wrong is not None:
            raise UnreachableError(wrong)
    failures: list[NotStartedError] = []

    async def play(run: SuiteRun) -> None:
        try:
            await run.cases(cases)
        except NotStartedError as error:
            failures.append(error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for run in runs:
            nursery.start_soon(play, run)
    if failures:
        raise failures[0]


# Request codes whose responses also have data of others.
SHARED_LISTS: Final = frozenset({21, 26, 28, 43, 45, 201, 305, 317, 328, 402, 200_074})

_PRESENT: Final = "present"
# Members and fields of which only the presence is compared.
_VARIABLE: Final = frozenset(
    (
        *("msgId", "transactionId", "popTime", "recallHandle", "offsetMsgId", "version"),
        *("commitLogOffset", "tranStateTableOffset", "storeTimestamp", "bornHost", "storeHost"),
        *("indexLastUpdateTimestamp", "indexLastUpdatePhyoffset", "reviveQid"),
        *("totalTopicNum", "totalGroupNum", "timestamp", "bornTimestamp", "storeSize", "id"),
        *("preparedTransactionOffset", "lastUpdateTimestamp", "lastTimestamp", "physicOffset"),
        *("physicSize", "earliestMsgTimestamp", "counter", "stateVersion", "clientAddr"),
        *("brokerAddr", "suggestWhichBrokerId", "bodyCRC", "remoteIP", "pt"),
        *("UNIQ_KEY", "__transactionId__", "ORIGIN_MESSAGE_ID", "1ST_POP_TIME", "POP_CK"),
        *("TRAN_PREPARED_QUEUE_OFFSET", "TIMER_OUT_MS", "TIMER_ENQUEUE_MS", "TIMER_DEQUEUE_MS"),
        *("TIMER_DELIVER_MS", "TRANSACTION_CHECK_TIMES", "commitLogMaxOffset"),
        *("masterCommitLogMaxOffset", "delayTime", "consumeTps", "topicPutTps", "lmqNum"),
    )
)
# The same for ext fields: topics of delays are shared, and pushed properties have a time.
_VARIABLE_FIELDS: Final = _VARIABLE | {"queueOffset", "properties"}
_EXCEPTION: Final = "an exception"
# Codes whose remarks may be texts of exceptions.
_FREE_TEXTS: Final = frozenset({1, 23})
_ADDRESS: Final = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+")
_LONG_NUMBER: Final = re.compile(r"\d{11,}")
_THROWN: Final = re.compile(r"java\.|com\.|org\.|[Ee]xception|Error|custom field|input string|null")


def remark_view(code: int, remark: str | None) -> str | None:
    """A remark without addresses and times; that of an error 1 may be any exception text."""
    if code in _FREE_TEXTS and remark is not None and _THROWN.search(remark):
        return _EXCEPTION
    if not remark or remark == "not set any response code":  # a leftover of successes
        return None
    return mask(remark)


def same_remarks(first: object, second: object) -> bool:
    return first == second or _EXCEPTION in {first, second}


def mask(text: str) -> str:
    return _LONG_NUMBER.sub("NUMBER", _ADDRESS.sub("ADDRESS", text))


def ext_view(fields: Mapping[str, str] | None) -> dict[str, object] | None:
    if not fields:
        return None
    return {
        name: _PRESENT if name in _VARIABLE_FIELDS else mask(text) for name, text in fields.items()
    }


def json_view(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {
            mask(key): _PRESENT if key in _VARIABLE else json_view(inner)
            for key, inner in members.items()
        }
    if isinstance(value, list):
        return [json_view(inner) for inner in cast("list[object]", value)]
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, int) and not isinstance(value, bool) and value > 10**10:
        return "NUMBER"
    return value


def messages_view(body: bytes) -> object:
    return json_view(message_values(body))
