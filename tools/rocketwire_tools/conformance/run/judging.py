"""Whether an arrival is an acceptable outcome, and which arrivals decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_tools.conformance.model.outcomes import (
    Closed,
    Incoming,
    Response,
    Silence,
    TextBody,
)
from rocketwire_tools.conformance.run import match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.run.raw_connection import Arrival


def mismatch(outcome: Outcome, arrival: Arrival, names: Names) -> str | None:
    """The reason why an arrival is not this outcome; None if it is."""
    if isinstance(outcome, Silence):
        return f"{arrival.kind} instead of silence"
    if isinstance(outcome, Closed):
        return None if arrival.kind == "end" else f"{arrival.kind} instead of the end"
    expected = "response" if isinstance(outcome, Response) else "request"
    command = arrival.command
    if command is None or arrival.kind != expected:
        why = f" ({arrival.reason})" if arrival.reason else ""
        return f"{arrival.kind}{why} instead of a {expected}"
    if isinstance(outcome, Response) and outcome.opaque not in {None, command.opaque}:
        return f"opaque: {command.opaque} instead of {outcome.opaque}"
    return match.command(outcome, command, names)


def belongs(arrival: Arrival, opaque: int | None) -> bool:
    """Whether an arrival can be the response to ``opaque``; None for any request."""
    if arrival.kind != "response" or opaque is None:
        return True
    return arrival.command is not None and arrival.command.opaque == opaque


def deciding(outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The kinds of arrivals that decide between these outcomes; later steps see others."""
    if all(isinstance(outcome, Incoming) for outcome in outcomes):
        return frozenset({"request", "rubbish", "end"})
    if any(isinstance(outcome, (Silence, Incoming)) for outcome in outcomes):
        return frozenset({"request", "response", "rubbish", "end"})
    return frozenset({"response", "rubbish", "end"})


def byte_for_byte(outcomes: Sequence[Outcome]) -> bool:
    """Whether any of the outcomes compares the bytes of a body."""
    return any(
        isinstance(outcome, Response) and isinstance(outcome.body, TextBody) for outcome in outcomes
    )
