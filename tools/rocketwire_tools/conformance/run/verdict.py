"""The verdict of a case, with the evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.wording import cut

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case, VerdictKind
    from rocketwire_tools.conformance.run.raw_connection import Arrival

# Maximum bytes of each message in the evidence.
MAX_HEX_BYTES: Final = 128


def hexdump(data: bytes) -> str:
    rest = f" ... ({len(data)} bytes)" if len(data) > MAX_HEX_BYTES else ""
    return data[:MAX_HEX_BYTES].hex(" ", 4) + rest


def arrival_text(arrival: Arrival) -> str:
    command = arrival.command
    if command is None:
        what = f"{arrival.kind}: {arrival.reason}" if arrival.reason else arrival.kind
        return f"{what} {hexdump(arrival.data)}".rstrip()
    what = f"{arrival.kind} code={command.code} flag={command.flag} opaque={command.opaque}"
    if command.remark is not None:
        what += f" remark={cut(json.dumps(command.remark))}"
    if command.ext_fields is not None:
        what += f" ext={cut(json.dumps(dict(command.ext_fields)))}"
    if command.body is not None:
        what += f" body={cut(json.dumps(command.body.decode(errors='backslashreplace')))}"
    return what


@dataclass(frozen=True, slots=True)
class Exchange:
    link: str  # name of the connection
    direction: str  # ``>`` sent, ``<`` received, ``!`` neither
    text: str
    data: bytes = b""

    def __str__(self) -> str:
        dump = f"\n      {hexdump(self.data)}" if self.data else ""
        return f"{self.link} {self.direction} {self.text}{dump}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    step: str  # number and type of the step
    arrival: Arrival | None  # the arrival; None for silence
    exact: bool = False  # whether bodies are compared byte for byte
    request_code: int | None = None  # code of the answered request, if known


@dataclass(slots=True, kw_only=True)
class Verdict:
    case: Case
    kind: VerdictKind  # pass, fail, skip or error
    reason: str = ""  # one sentence unless it is a pass
    acceptable: tuple[str, ...] = ()  # acceptable outcomes of the failed step
    exchanges: list[Exchange] = field(default_factory=list[Exchange])  # all data sent and received
    # results of the awaiting steps
    observations: list[Observation] = field(default_factory=list[Observation])
    seconds: float = 0.0
