"""A bystander: another broker that is registered before the steps of a case and read after them.

Nothing of it may change, whatever the case does to its own brokers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.model.outcomes import Contains, Has, JsonBody
from rocketwire_tools.conformance.model.requests import (
    ask,
    broker_ext,
    data_version,
    has,
    register,
    registration,
    success,
    topic_config,
)

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case

_LINK: Final = "bystander"
_TOPICS: Final = ("{topicK}", "%RETRY%{topicK}")
_BROKER: Final = broker_ext(
    cluster="{clusterK}", address="{addressK}", name="{brokerK}", ha="{haK}"
)
_NUMBERS: Final = {"perm": 2, "readQueueNums": 3, "topicSysFlag": 1, "writeQueueNums": 5}
_GROUP: Final = Has(
    {"brokerAddrs": {"0": "{addressK}"}, "brokerName": "{brokerK}", "cluster": "{clusterK}"}
)
_REGISTERED: Final = register(_BROKER,
    registration(tuple(topic_config(name, **_NUMBERS) for name in _TOPICS),
        filter_servers=("k:1",)), success(), on=_LINK)  # fmt: skip
_UNCHANGED: Final = (
    ask(105, {"topic": "{topicK}"},
        has({
            "brokerDatas": [_GROUP],
            "filterServerTable": {"{addressK}": ["k:1"]},
            "queueDatas": [_NUMBERS | {"brokerName": "{brokerK}"}],
        }), on=_LINK),
    ask(106, None,
        has({
            "brokerAddrTable": Has({"{brokerK}": _GROUP}),
            "clusterAddrTable": Has({"{clusterK}": ["{brokerK}"]}),
        }), on=_LINK),
    ask(206, None, has({"topicList": Contains(_TOPICS)}), on=_LINK),
    ask(224, {"cluster": "{clusterK}"}, success(JsonBody({"topicList": list(_TOPICS)})), on=_LINK),
    ask(304, None, has({"topicList": Contains(("{clusterK}", "{brokerK}"))}), on=_LINK),
    ask(311, None, has({"topicList": Contains(_TOPICS)}), on=_LINK),
    ask(322, _BROKER, has({"counter": 1, "timestamp": 1000}, ext={"changed": "false"}),
        body=data_version(), on=_LINK),
)  # fmt: skip
# Options whose value false makes a server reject these codes.
_NOT_LISTED: Final = {"enableAllTopicList": (206,), "enableTopicList": (224, 311)}


def add_bystander(case: Case) -> Case:
    off = {name for name, value in (case.options or {}).items() if value == "false"}
    rejected = {code for name in off for code in _NOT_LISTED.get(name, ())}
    unchanged = (step for step in _UNCHANGED if step.request.code not in rejected)
    return replace(case, steps=(_REGISTERED, *case.steps, *unchanged))
