"""``diff``: the same cases with the same bytes to two servers, and every difference between what they did.

Compared are code, remark, ext fields, flag bits, form and number of the header, body, closing and silence.  Bodies are compared
as parsed JSON, lists in any order; byte for byte where a case looks at the bytes.  What lists everybody's brokers and topics is
compared in so far as it mentions the case's own.
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
from rocketwire_tools.conformance.model.case import VerdictKind
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.match import shown
from rocketwire_tools.conformance.run.target import NotStartedError
from rocketwire_tools.conformance.selection import under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.run.raw_connection import Arrival
    from rocketwire_tools.conformance.run.runner import Run, Settings
    from rocketwire_tools.conformance.run.target import Target
    from rocketwire_tools.conformance.run.verdict import Observation, Verdict

_EVERYBODYS: Final = frozenset({106, 206, 224, 304, 311, 312, 313})
"""Request codes whose answers list what other cases have registered too."""


_CONFIG: Final = 319
_MOVING: Final = re.compile(
    rb"^(listenPort|rocketmqHome|rocketwire\.[^=\n]*|conformance\.key|productEnvName|serverSelectorThreads)=.*\n",
    re.MULTILINE,
)
"""Lines of the configuration that say where a server runs or are its own, and those that cases change at the same time."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two servers did differently.

    Attributes:
        case: address of the case.
        step: which awaiting step saw it.
        field: ``code``, ``remark``, ``ext``, ``body``, ``bytes``, ``flag``, ``header``, ``number``, ``what`` (an answer, the end,
            silence, a request, rubbish) or ``course`` (one could not be asked all).
        first: what the first server did.
        second: what the second did.
    """

    case: str
    step: str
    field: str
    first: object
    second: object

    def __str__(self) -> str:
        return f"{self.case} ({self.step}) {self.field}: {shown(self.first)} / {shown(self.second)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A difference that is on purpose.

    Attributes:
        case: address, or what it lies under.
        fields: those that may differ.
        reason: why.
        first: regular expression that finds something in the first server's value as text; None for any.
        second: likewise.
    """

    case: str
    fields: tuple[str, ...]
    reason: str
    first: str | None = None
    second: str | None = None

    def explains(self, difference: Difference) -> bool:
        """Whether the difference is this one."""
        return (
            (self.case == "*" or under(difference.case, self.case))
            and difference.field in self.fields
            and (self.first is None or re.search(self.first, str(difference.first)) is not None)
            and (self.second is None or re.search(self.second, str(difference.second)) is not None)
        )


ROCKETWIRE: Final = "rocketwire"
"""What ``--known`` calls the file that comes with the package."""
KNOWN_FILE: Final = Path(__file__).with_name("known_differences.toml")
"""The differences between Java's name server 5.5.0 (A) and rocketwire's (B) that are on purpose."""


def known_differences(names: Sequence[str]) -> list[Known]:
    """Read all files of known differences that ``--known`` names.

    Raises:
        OSError: a file cannot be read.
        ValueError: as by ``read_known``, with the name of the file.
    """
    entries: list[Known] = []
    for name in names:
        path = KNOWN_FILE if name == ROCKETWIRE else Path(name)
        try:
            entries += read_known(path.read_text("utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return entries


def read_known(text: str) -> list[Known]:
    """Read known differences: TOML with tables ``[[difference]]`` of ``case``, ``fields``, ``reason``, ``first``, ``second``.

    Other members are left to whoever checks the file.

    Raises:
        ValueError: not TOML, or a table lacks a member.
    """
    tables: list[dict[str, Any]] = tomllib.loads(text).get("difference", [])
    try:
        return [
            Known(
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
    """All differences between two plays of one case."""
    case = first.case.id
    if VerdictKind.ERROR in {first.kind, second.kind}:
        if first.kind is second.kind:
            return []
        return [Difference(case, "all", "course", first.reason or "ok", second.reason or "ok")]
    differences: list[Difference] = []
    for first_observation, second_observation in zip(
        first.observations, second.observations, strict=False
    ):
        fields = fields_of(first_observation, second_observation, names)
        differences += [
            Difference(case, first_observation.step, name, *pair)
            for name, pair in fields.items()
            if pair[0] != pair[1]
        ]
    lengths = len(first.observations), len(second.observations)
    if lengths[0] != lengths[1] and not differences:
        differences.append(Difference(case, "all", "course", *lengths))
    return differences


def fields_of(
    first: Observation, second: Observation, names: Names
) -> dict[str, tuple[object, object]]:
    """What is compared of two observations: name of the field -> its value in each."""
    kinds = _kind(first.arrival), _kind(second.arrival)
    if first.arrival is None or second.arrival is None or kinds[0] != kinds[1]:
        return {"what": kinds}
    first_command, second_command = first.arrival.command, second.arrival.command
    if first_command is None or second_command is None:
        return {"bytes": (first.arrival.data, second.arrival.data)}
    own_view = first.request_code in _EVERYBODYS
    bodies = first_command.body, second_command.body
    if first.request_code == _CONFIG:
        bodies = _settled(bodies[0]), _settled(bodies[1])
    fields: dict[str, tuple[object, object]] = {
        "code": (first_command.code, second_command.code),
        "remark": (first_command.remark, second_command.remark),
        "ext": (_ext(first_command.ext_fields), _ext(second_command.ext_fields)),
        "flag": (first_command.flag, second_command.flag),
        "header": (first_command.serialize_type.name, second_command.serialize_type.name),
        "number": (first.own_number, second.own_number),
        "body": (_body(bodies[0], names, own_view), _body(bodies[1], names, own_view)),
    }
    if first.exact and fields["body"][0] == fields["body"][1]:
        fields["bytes"] = bodies
    return fields


def _settled(body: bytes | None) -> bytes | None:
    """The answer to 319 without what differs from server to server and from moment to moment."""
    return None if body is None else _MOVING.sub(b"", body)


def _kind(arrival: Arrival | None) -> str:
    return "silence" if arrival is None else arrival.kind


def _ext(fields: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if fields is None else dict(fields)


def _body(body: bytes | None, names: Names, own_view: bool) -> object:
    if not body:
        return None
    try:
        value: object = fastjson.loads(body)
    except DecodeError:
        return body
    return _canonical(_own(value, names) if own_view else value)


def _own(value: object, names: Names) -> object:
    """What of a value mentions the case's own names."""
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
    """The value with its lists in an order of their own."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {key: _canonical(members[key]) for key in sorted(members)}
    if isinstance(value, list):
        return sorted(map(_canonical, cast("list[object]", value)), key=repr)
    return value


@dataclass(frozen=True, slots=True)
class Comparison:
    """What ``diff`` found.

    Attributes:
        unexplained: differences that nobody knows.
        explained: those that are known, with what knows them.
        unused: known differences that were not seen though their cases were played.
        played: how many cases were played on both.
    """

    unexplained: list[Difference]
    explained: list[tuple[Difference, Known]]
    unused: list[Known]
    played: int


def explain(
    differences: Sequence[Difference], known_list: Sequence[Known]
) -> tuple[list[Difference], list[tuple[Difference, Known]]]:
    """Those that nobody knows, and the others with what knows them."""
    unexplained: list[Difference] = []
    explained: list[tuple[Difference, Known]] = []
    for difference in differences:
        reason = next((entry for entry in known_list if entry.explains(difference)), None)
        if reason is None:
            unexplained.append(difference)
        else:
            explained.append((difference, reason))
    return unexplained, explained


def judge(
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    run: str,
    numbers: Mapping[str, int],
    known_list: Sequence[Known] = (),
) -> Comparison:
    """Compare two runs that used the same word for their names.

    Args:
        first: of the first server.
        second: of the second, the same cases.
        run: the word.
        numbers: the number of each address.
        known: differences that are on purpose.
    """
    by_case = {verdict.case.id: verdict for verdict in second}
    unexplained: list[Difference] = []
    explained: list[tuple[Difference, Known]] = []
    played: list[str] = []
    for verdict in first:
        counterpart = by_case.get(verdict.case.id)
        if counterpart is None or VerdictKind.SKIP in {verdict.kind, counterpart.kind}:
            continue
        played.append(verdict.case.id)
        differences = compare(verdict, counterpart, Names(run, numbers[verdict.case.id]))
        new_unexplained, new_explained = explain(differences, known_list)
        unexplained += new_unexplained
        explained += new_explained
    used = {id(reason) for _, reason in explained}
    unused = [
        entry
        for entry in known_list
        if id(entry) not in used
        and (entry.case == "*" or any(under(case, entry.case) for case in played))
    ]
    return Comparison(unexplained, explained, unused, len(played))


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two servers: a running one, or the command that starts it.

    Attributes:
        name: its address, or the command.
        settings: how cases are carried out on it.
        target: the one that runs; None to start it.
        run: the run on it.
    """

    name: str
    settings: Settings
    target: Target | None
    run: Run


async def play_both(
    cases: Sequence[Case], numbers: dict[str, int], first: Side, second: Side
) -> tuple[list[Verdict], list[Verdict]]:
    """Play cases on both servers at the same time.

    Raises:
        NotStartedError: one of them did not start; the text begins with its name.
    """
    failures: list[NotStartedError] = []

    async def one(side: Side) -> None:
        try:
            await side.run.cases(cases, numbers)
        except NotStartedError as error:
            failures.append(error)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one, first)
        nursery.start_soon(one, second)
    if failures:
        raise failures[0]
    return first.run.verdicts, second.run.verdicts
