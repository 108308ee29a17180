"""``--explain``: all about one case, for authors of name servers in any language.

Frames are shown with the names of a run called ``example``: the header as JSON, the body as text, and all bytes as hex.
"""

from __future__ import annotations

import json
import textwrap
from typing import IO, TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import Severity
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.model.requests import OK
from rocketwire_tools.conformance.model.steps import Ask, Expect, Frame, Request, Send, Until
from rocketwire_tools.conformance.model.wording import outcome, sent, step
from rocketwire_tools.conformance.run.request_writer import literal_bytes, request_bytes, with_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.steps import Sendable, Step

RUN: Final = "example"
BYTES_SHOWN: Final = 1024
"""Of each frame, as hex."""
_CHARACTERS: Final = 2000
"""Of each body."""
_MEANING: Final = {
    Severity.MUST: "brokers, clients or tools misbehave without it",
    Severity.SHOULD: "a failure with --strict only",
    Severity.NOTE: "never a failure",
}


def explain(case: Case, number: int, out: IO[str]) -> None:
    """Print all about a case.

    Args:
        case: which.
        number: of it, of which its names are made.
        out: where to.
    """
    print("\n".join(_lines(case, Names(RUN, number))), file=out)


def _lines(case: Case, names: Names) -> Iterator[str]:
    yield f"{case.id}  {case.requirement}"
    yield f"  severity  {case.severity.value} ({_MEANING[case.severity]})"
    yield f"  evidence  {case.evidence}"
    yield f"  profiles  {' '.join(sorted(profile.value for profile in case.profiles))}"
    yield f"  tags      {' '.join(sorted(case.all_tags)) or '-'}"
    if case.needs_start:
        yield "  server    started by the suite (--start) for this case:"
        yield from _server(case)
    opaque = 0
    for place, item in enumerate((*case.steps, *case.cleanup), 1):
        yield ""
        last = "in the end, " if place > len(case.steps) else ""
        yield f"  {place}. {last}{step(item)}"
        for part in _parts(item):
            opaque += isinstance(part, Request)
            yield from _sent(part, names, opaque)
        for accepted in _outcomes(item):
            yield f"       accepted: {names.text(outcome(accepted))}"


def _server(case: Case) -> Iterator[str]:
    for name, text in (case.options or {}).items():
        yield f"              property {name}={text}"
    for word in case.jvm:
        yield f"              system property {word}"
    if case.kv is not None:
        yield f"              KV file {json.dumps(case.kv, ensure_ascii=False)}"
    for file in case.files:
        yield f"              file {file}"
    if case.fresh:
        yield "              not used by another case"


def _parts(item: Step) -> Sequence[Sendable]:
    if isinstance(item, Send):
        return item.parts
    return (item.request,) if isinstance(item, (Ask, Until)) else ()


def _outcomes(item: Step) -> Sequence[Outcome]:
    if isinstance(item, Ask):
        return item.outcomes or (OK,)
    if isinstance(item, Expect):
        return item.outcomes
    return (item.outcome,) if isinstance(item, Until) else ()


def _sent(part: Sendable, names: Names, opaque: int) -> Iterator[str]:
    """One frame, or bytes that are none."""
    if isinstance(part, Request):
        request = with_names(part, names)
        data = request_bytes(request, opaque if request.opaque is None else request.opaque)
        body = request.body if isinstance(request.body, bytes) else b""
        header = data[8 : len(data) - len(body)]
        form = "binary" if part.binary else "JSON"
    elif isinstance(part, Frame):
        data = literal_bytes(part, names) or b""
        header, body = (
            names.text(text).encode() if isinstance(text, str) else text
            for text in (part.header, part.body)
        )
        form = {0: "JSON", 1: "binary"}.get(part.type, f"type {part.type}")
    else:
        yield f"       bytes of {sent(part)}"
        yield from _hex(part)
        return
    yield f"       header ({form}): {_readable(header)}"
    if body:
        yield f"       body: {_readable(body)}"
    yield f"       frame of {len(data)} bytes:"
    yield from _hex(data)


def _readable(data: bytes) -> str:
    """JSON as it is, other text quoted, and bytes that are no text as hex."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _cut(data.hex(" "))
    return _cut(text if text.isprintable() else json.dumps(text, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}... ({len(text)} characters)"


def _hex(data: bytes) -> Iterator[str]:
    for line in textwrap.wrap(data[:BYTES_SHOWN].hex(" "), 96):
        yield f"         {line}"
    if len(data) > BYTES_SHOWN:
        yield f"         ... ({len(data)} bytes)"
