"""What came of one case, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import Severity, VerdictKind
from rocketwire_tools.conformance.run.match import shown

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.run.raw_connection import Arrival

HEX_SHOWN: Final = 128
"""Bytes of each message in the evidence."""


def hexdump(data: bytes) -> str:
    """Bytes as hex digits, cut where they are many."""
    cut = f" ... ({len(data)} bytes)" if len(data) > HEX_SHOWN else ""
    return data[:HEX_SHOWN].hex(" ", 4) + cut


def arrival_text(arrival: Arrival) -> str:
    """One line that says what came."""
    command = arrival.command
    if command is None:
        what = f"{arrival.kind}: {arrival.reason}" if arrival.reason else arrival.kind
        return f"{what} {hexdump(arrival.data)}".rstrip()
    ext = None if command.ext_fields is None else dict(command.ext_fields)
    return (
        f"{arrival.kind} code={command.code} flag={command.flag} opaque={command.opaque} "
        f"remark={shown(command.remark)} ext={shown(ext)} body={shown(command.body)}"
    )


@dataclass(frozen=True, slots=True)
class Exchange:
    """One line of the evidence.

    Attributes:
        link: the connection.
        direction: ``>`` sent, ``<`` came, ``!`` neither.
        text: what.
        data: its bytes.
    """

    link: str
    direction: str
    text: str
    data: bytes = b""

    def __str__(self) -> str:
        dump = f"\n      {hexdump(self.data)}" if self.data else ""
        return f"{self.link} {self.direction} {self.text}{dump}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one awaiting step saw: what ``diff`` compares.

    Attributes:
        step: the number of the step, and what it is.
        arrival: what came; None for silence.
        own_number: whether it bore the number of the request.
        exact: whether the bytes of the body matter.
        request_code: of the request that it answers, if one is known.
    """

    step: str
    arrival: Arrival | None
    own_number: bool = True
    exact: bool = False
    request_code: int | None = None


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What came of one case.

    Attributes:
        case: which.
        kind: pass, fail, skip or error.
        reason: one sentence, for everything but a pass.
        acceptable: the outcomes that the failing step would have accepted.
        exchanges: everything that went over the wire.
        observations: what the awaiting steps saw.
        seconds: how long it took.
    """

    case: Case
    kind: VerdictKind
    reason: str = ""
    acceptable: tuple[str, ...] = ()
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    observations: list[Observation] = field(default_factory=list[Observation])
    seconds: float = 0.0


def counts(verdict: Verdict, *, strict: bool) -> bool:
    """Whether a verdict makes the run fail: a MUST that was not passed, and with ``strict`` a SHOULD."""
    if verdict.kind not in {VerdictKind.FAIL, VerdictKind.ERROR}:
        return False
    severity = verdict.case.severity
    return severity is Severity.MUST or (strict and severity is Severity.SHOULD)
