"""``--explain``: details of one case, for authors of name servers in any language.

Frames contain the names of a run called ``example``. They are shown as JSON header, body and hex.
"""

from __future__ import annotations

import json
import textwrap
from typing import IO, TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.case import Severity
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.model.steps import Ask, Expect, Frame, Request, Send, Until
from rocketwire_tools.conformance.model.wording import (
    cut,
    describe_data,
    describe_outcome,
    describe_step,
)
from rocketwire_tools.conformance.run.request_writer import literal_bytes, request_bytes, with_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.outcomes import Outcome
    from rocketwire_tools.conformance.model.steps import Sendable, Step

RUN: Final = "example"
# Maximum bytes of a frame in hex.
MAX_BYTES: Final = 1024
# Maximum characters of a body.
_CHARACTERS: Final = 2000
_MEANING: Final = {
    Severity.MUST: "brokers, clients or tools fail without it",
    Severity.SHOULD: "a failure with --strict only",
    Severity.NOTE: "never a failure",
}


def explain(case: Case, out: IO[str]) -> None:
    print("\n".join(_lines(case, Names(RUN, case.number))), file=out)


def _lines(case: Case, names: Names) -> Iterator[str]:
    yield f"{case.id}  {case.requirement}"
    yield f"  severity  {case.severity.value} ({_MEANING[case.severity]})"
    yield f"  evidence  {case.evidence}"
    yield f"  profiles  {' '.join(sorted(profile.value for profile in case.profiles))}"
    yield f"  tags      {' '.join(sorted(case.all_tags)) or '-'}"
    if case.bystander:
        yield "  beside    another broker is registered before, and all of it is read afterwards"
    if case.needs_start:
        yield "  server    started by the suite (--start) for this case:"
        yield from _server(case)
    opaque = 0
    for index, item in enumerate((*case.steps, *case.cleanup), 1):
        yield ""
        last = "cleanup: " if index > len(case.steps) else ""
        yield f"  {index}. {last}{describe_step(item)}"
        for part in _parts(item):
            opaque += isinstance(part, Request)
            yield from _explain(part, names, opaque)
        for accepted in _outcomes(item):
            yield f"       accepted: {names.text(describe_outcome(accepted))}"


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
    if isinstance(item, (Ask, Expect)):
        return item.outcomes
    return (item.outcome,) if isinstance(item, Until) else ()


def _explain(part: Sendable, names: Names, opaque: int) -> Iterator[str]:
    if isinstance(part, Request):
        request = with_names(part, names)
        data = request_bytes(request, opaque if request.opaque is None else request.opaque)
        body = request.body if isinstance(request.body, bytes) else b""
        header = data[8 : len(data) - len(body)]
        form = "binary" if part.binary else "JSON"
    elif isinstance(part, Frame):
        data = literal_bytes(part, names)
        header, body = (
            names.text(text).encode() if isinstance(text, str) else text
            for text in (part.header, part.body)
        )
        form = {0: "JSON", 1: "binary"}.get(part.type, f"type {part.type}")
    else:
        yield f"       bytes of {describe_data(part)}"
        yield from _hex(part)
        return
    yield f"       header ({form}): {_readable(header)}"
    if body:
        yield f"       body: {_readable(body)}"
    yield f"       frame of {len(data)} bytes:"
    yield from _hex(data)


def _readable(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return cut(data.hex(" "), _CHARACTERS)
    printed = text if text.isprintable() else json.dumps(text, ensure_ascii=False)
    return cut(printed, _CHARACTERS)


def _hex(data: bytes) -> Iterator[str]:
    for line in textwrap.wrap(data[:MAX_BYTES].hex(" "), 96):
        yield f"         {line}"
    if len(data) > MAX_BYTES:
        yield f"         ... ({len(data)} bytes)"
