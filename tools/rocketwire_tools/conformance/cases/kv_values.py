"""KV configuration: values with unusual characters, and the file they are kept in."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import Case, Severity
from rocketwire_tools.conformance.model.outcomes import Answer, Json
from rocketwire_tools.conformance.model.requests import OK, ask, found
from rocketwire_tools.conformance.model.steps import Restart

ENTRY: Final = {"namespace": "{namespace}", "key": "{key}"}
SPACE: Final = {"namespace": "{namespace}"}
PUT: Final = "DefaultRequestProcessor.putKVConfig, KVConfigManager.putKVConfig @ 5.5.0"


def put(value: str = "v", key: str = "{key}") -> dict[str, str]:
    """The ext fields of 100."""
    return {"namespace": "{namespace}", "key": key, "value": value}


CASES: Final = (
    Case(
        id="ns/100/2",
        requirement="A value MUST survive a restart of the server.",
        evidence="KVConfigManager.load, persist @ 5.5.0",
        items=(46,),
        tags=frozenset({"slow"}),
        fresh=True,
        steps=(
            ask(100, put("kept"), OK),
            Restart(),
            ask(219, SPACE, found(Json({"table": {"{key}": "kept"}})), on="b"),
        ),
    ),
    Case(
        id="ns/100/30",
        requirement="A value of 30,000 characters MUST be stored.",
        evidence=PUT,
        steps=(ask(100, put("x" * 30_000)), ask(101, ENTRY, Answer(ext={"value": "x" * 30_000}))),
    ),
    Case(
        id="ns/100/31",
        requirement="Namespace and key MAY be empty strings.",
        evidence=PUT,
        severity=Severity.NOTE,
        tags=frozenset({"destructive"}),
        steps=(
            ask(100, {"namespace": "", "key": "", "value": "v"}),
            ask(101, {"namespace": "", "key": ""}, Answer(ext={"value": "v"})),
        ),
        cleanup=(ask(102, {"namespace": "", "key": ""}),),
    ),
    Case(
        id="ns/100/32",
        requirement="Unknown ext fields MUST be ignored.",
        evidence="RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
        steps=(
            ask(100, put() | {"AccessKey": "a", "Signature": "s", "other": "x"}),
            ask(101, ENTRY | {"other": "x"}, Answer(ext={"value": "v"})),
        ),
    ),
)
