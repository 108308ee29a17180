"""Members of a group of brokers: code 901."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import SLAVE
from rocketwire_tools.conformance.model.case import SINCE_5_3, case
from rocketwire_tools.conformance.model.outcomes import ANY, Json, Text
from rocketwire_tools.conformance.model.requests import ask, found, register

HANDLER: Final = (
    "DefaultRequestProcessor.getBrokerMemberGroup, RouteInfoManager.getBrokerMemberGroup @ 5.5.0"
)
REMARK: Final = "not set any response code"
ASKED: Final = {"clusterName": "{cluster}", "brokerName": "{broker}"}


CASES: Final = (
    case(
        "ns/901/1", "901 MUST list the addresses of the group by id.",
        register(on="a"),
        register(SLAVE, None, on="b"),
        ask(
            901, ASKED,
            found(
                Json({
                    "brokerMemberGroup": {
                        "brokerAddrs": {"0": "{address}", "1": "{addressS}"},
                        "brokerName": "{broker}",
                        "cluster": "{cluster}",
                    },
                }),
                remark=ANY, ext=None,
            ),
        ),
        evidence=HANDLER, items=(112,), profiles=SINCE_5_3,
    ),
    case(
        "ns/901/2",
        "A success of 901 SHOULD have the remark that Java fails to clear, and unquoted integer "
        "keys.",
        register(),
        ask(
            901, ASKED,
            found(
                Text(
                    '{"brokerMemberGroup":{"brokerAddrs":{0:"{address}"},'
                    '"brokerName":"{broker}","cluster":"{cluster}"}}'
                ),
                remark=REMARK, ext=None,
            ),
            version=513,
        ),
        evidence=f"{HANDLER}; RemotingCommand.createResponseCommand", items=(112,),
        profiles=SINCE_5_3,
    ),
    case(
        "ns/901/3",
        "901 with another cluster SHOULD return that cluster's name with the addresses of the "
        "group.",
        register(),
        ask(
            901, ASKED | {"clusterName": "{clusterB}"},
            found(
                Json({
                    "brokerMemberGroup": {
                        "brokerAddrs": {"0": "{address}"},
                        "brokerName": "{broker}",
                        "cluster": "{clusterB}",
                    },
                }),
                remark=ANY,
            ),
        ),
        evidence=HANDLER, items=(112,), profiles=SINCE_5_3,
    ),
    case(
        "ns/901/4", "901 for an unknown group MUST succeed without addresses.",
        ask(
            901, ASKED,
            found(
                Json({
                    "brokerMemberGroup": {
                        "brokerAddrs": {},
                        "brokerName": "{broker}",
                        "cluster": "{cluster}",
                    },
                }),
                remark=ANY,
            ),
        ),
        evidence=HANDLER, items=(112,), profiles=SINCE_5_3,
    ),
    case(
        "ns/901/5", "901 without a group MUST succeed without addresses and names.",
        ask(901, None, found(Text('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY)),
        ask(901, {}, found(Text('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY)),
        evidence=HANDLER, items=(112,), profiles=SINCE_5_3,
    ),
)  # fmt: skip
