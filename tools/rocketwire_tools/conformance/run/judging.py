"""Whether an arrival is an outcome that a case accepts, and which arrivals decide that at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.conformance.model.outcomes import (
    Answer,
    Bytes,
    Closed,
    Incoming,
    RawBytes,
    Silence,
    Text,
)
from rocketwire_tools.conformance.run import match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.run.raw_connection import Arrival


def mismatch(
    outcome: Outcome, arrival: Arrival, names: Names, *, own_number: bool = True
) -> str | None:
    """Why what came is not this outcome; None if it is.

    Args:
        outcome: what is acceptable.
        arrival: what came.
        names: those of the run.
        own_number: whether a response has the number of a request.
    """
    if isinstance(outcome, Silence):
        return f"{arrival.kind} instead of silence"
    if isinstance(outcome, Closed):
        return None if arrival.kind == "end" else f"{arrival.kind} instead of the end"
    if isinstance(outcome, RawBytes):
        is_equal = arrival.data == outcome.data
        return None if is_equal else f"{arrival.data.hex()} instead of {outcome.data.hex()}"
    return _command_mismatch(outcome, arrival, names, own_number=own_number)


def _command_mismatch(
    outcome: Answer | Incoming, arrival: Arrival, names: Names, *, own_number: bool
) -> str | None:
    expected = "response" if isinstance(outcome, Answer) else "request"
    command = arrival.command
    if command is None or arrival.kind != expected:
        why = f" ({arrival.reason})" if arrival.reason else ""
        return f"{arrival.kind}{why} instead of a {expected}"
    if isinstance(outcome, Incoming):
        return match.incoming(outcome, command, names)
    if outcome.opaque is not None and command.opaque != outcome.opaque:
        return f"opaque: {command.opaque} instead of {outcome.opaque}"
    if outcome.opaque is None and not own_number:
        return f"opaque: {command.opaque} is that of no request"
    return match.answer(outcome, command, names)


def belongs(arrival: Arrival, opaque: int | None) -> bool:
    """Whether it can be the answer to the request of that number; None for any request."""
    if arrival.kind != "response" or opaque is None:
        return True
    return arrival.command is not None and arrival.command.opaque == opaque


def deciding(outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The kinds of arrivals that decide between these outcomes; others are left for later steps."""
    if all(isinstance(outcome, Incoming) for outcome in outcomes):
        return frozenset({"request", "rubbish", "end"})
    if any(isinstance(outcome, (Silence, Incoming)) for outcome in outcomes):
        return frozenset({"request", "response", "rubbish", "end"})
    return frozenset({"response", "rubbish", "end"})


def byte_for_byte(outcomes: Sequence[Outcome]) -> bool:
    """Whether any of the outcomes looks at the bytes of a body."""
    return any(
        isinstance(outcome, (Answer, Incoming)) and isinstance(outcome.body, (Text, Bytes))
        for outcome in outcomes
    )
