"""KV configuration: codes 100, 101, 102 and 219."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.build import OK, OK_BARE, ask, found
from rocketwire_tools.conformance.case import Case
from rocketwire_tools.conformance.outcomes import NO_EXT, Answer, Json, Text
from rocketwire_tools.conformance.steps import Restart

_ENTRY: Final = {"namespace": "{namespace}", "key": "{key}"}

CASES: Final = (
    Case(
        id="ns/100/1",
        requirement="A stored value MUST be given back by 101 and be listed by 219.",
        evidence="KVConfigManager.putKVConfig, getKVConfig, getKVListByNamespace @ 5.5.0",
        items=(37,),
        steps=(
            ask(100, {**_ENTRY, "value": "v"}, OK_BARE),
            ask(101, _ENTRY, Answer(code=0, ext={"value": "v"})),
            ask(219, {"namespace": "{namespace}"}, found(Text('{"table":{"{key}":"v"}}'))),
        ),
    ),
    Case(
        id="ns/101/1",
        requirement="101 for an entry that is not there MUST answer code 22 and name what was asked.",
        evidence="DefaultRequestProcessor.getKVConfig @ 5.5.0",
        items=(38,),
        steps=(
            ask(
                101,
                _ENTRY,
                Answer(
                    code=22,
                    ext=NO_EXT,
                    remark="No config item, Namespace: {namespace} Key: {key}",
                ),
            ),
        ),
    ),
    Case(
        id="ns/100/2",
        requirement="A value MUST survive a restart of the server.",
        evidence="KVConfigManager.load, persist @ 5.5.0",
        items=(46,),
        tags=frozenset({"slow"}),
        fresh=True,
        steps=(
            ask(100, {**_ENTRY, "value": "kept"}, OK),
            Restart(),
            ask(
                219, {"namespace": "{namespace}"}, found(Json({"table": {"{key}": "kept"}})), on="b"
            ),
        ),
    ),
)
