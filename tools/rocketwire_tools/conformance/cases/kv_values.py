"""KV configuration: unusual values, and the KV file."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import ENTRY, SPACE, put
from rocketwire_tools.conformance.model.case import case
from rocketwire_tools.conformance.model.outcomes import Answer, Json
from rocketwire_tools.conformance.model.requests import OK, ask, found
from rocketwire_tools.conformance.model.steps import Restart

PUT: Final = "DefaultRequestProcessor.putKVConfig, KVConfigManager.putKVConfig @ 5.5.0"


CASES: Final = (
    case(
        "ns/100/2", "A value MUST survive a restart of the server.",
        ask(100, put("kept"), OK),
        Restart(),
        ask(219, SPACE, found(Json({"table": {"{key}": "kept"}})), on="b"),
        evidence="KVConfigManager.load, persist @ 5.5.0", items=(46,), tags=frozenset({"slow"}),
        fresh=True,
    ),
    case(
        "ns/100/30", "A value of 30,000 characters MUST be stored.",
        ask(100, put("x" * 30_000)),
        ask(101, ENTRY, Answer(ext={"value": "x" * 30_000})),
        evidence=PUT,
    ),
    case(
        "ns/100/31", "Namespace and key MAY be empty strings.",
        ask(100, {"namespace": "", "key": "", "value": "v"}),
        ask(101, {"namespace": "", "key": ""}, Answer(ext={"value": "v"})),
        evidence=PUT, tags=frozenset({"destructive"}),
        cleanup=(ask(102, {"namespace": "", "key": ""}),),
    ),
    case(
        "ns/100/32", "Unknown ext fields MUST be ignored.",
        ask(100, put() | {"AccessKey": "a", "Signature": "s", "other": "x"}),
        ask(101, ENTRY | {"other": "x"}, Answer(ext={"value": "v"})),
        evidence="RemotingCommand.decodeCommandCustomHeader @ 5.5.0",
    ),
)  # fmt: skip
