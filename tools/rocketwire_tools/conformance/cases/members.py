"""Members of a group of brokers: code 901."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Severity
from rocketwire_tools.conformance.model.outcomes import ANY, Json, Text
from rocketwire_tools.conformance.model.requests import ask, broker_ext, found, register

HANDLER: Final = (
    "DefaultRequestProcessor.getBrokerMemberGroup, RouteInfoManager.getBrokerMemberGroup @ 5.5.0"
)
REMARK: Final = "not set any response code"
ASKED: Final = {"clusterName": "{cluster}", "brokerName": "{broker}"}
SLAVE: Final = broker_ext(address="{addressS}", broker_id=1, ha="{haS}")


CASES: Final = (
    Case(
        id="ns/901/1",
        requirement="901 MUST list the addresses of the group by id.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        items=(112,),
        steps=(
            register(on="a"),
            register(SLAVE, None, on="b"),
            ask(
                901,
                ASKED,
                found(
                    Json(
                        {
                            "brokerMemberGroup": {
                                "brokerAddrs": {"0": "{address}", "1": "{addressS}"},
                                "brokerName": "{broker}",
                                "cluster": "{cluster}",
                            }
                        }
                    ),
                    remark=ANY,
                    ext=None,
                ),
            ),
        ),
    ),
    Case(
        id="ns/901/2",
        requirement="A success of 901 SHOULD have the remark that Java fails to clear, and unquoted integer keys.",
        evidence=f"{HANDLER}; RemotingCommand.createResponseCommand",
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        items=(112,),
        steps=(
            register(),
            ask(
                901,
                ASKED,
                found(
                    Text(
                        '{"brokerMemberGroup":{"brokerAddrs":{0:"{address}"},'
                        '"brokerName":"{broker}","cluster":"{cluster}"}}'
                    ),
                    remark=REMARK,
                    ext=None,
                ),
                version=513,
            ),
        ),
    ),
    Case(
        id="ns/901/3",
        requirement="901 with another cluster SHOULD return that cluster's name with the addresses of the group.",
        evidence=HANDLER,
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        items=(112,),
        steps=(
            register(),
            ask(
                901,
                ASKED | {"clusterName": "{clusterB}"},
                found(
                    Json(
                        {
                            "brokerMemberGroup": {
                                "brokerAddrs": {"0": "{address}"},
                                "brokerName": "{broker}",
                                "cluster": "{clusterB}",
                            }
                        }
                    ),
                    remark=ANY,
                ),
            ),
        ),
    ),
    Case(
        id="ns/901/4",
        requirement="901 for an unknown group MUST succeed without addresses.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        items=(112,),
        steps=(
            ask(
                901,
                ASKED,
                found(
                    Json(
                        {
                            "brokerMemberGroup": {
                                "brokerAddrs": {},
                                "brokerName": "{broker}",
                                "cluster": "{cluster}",
                            }
                        }
                    ),
                    remark=ANY,
                ),
            ),
        ),
    ),
    Case(
        id="ns/901/5",
        requirement="901 without a group MUST succeed without addresses and names.",
        evidence=HANDLER,
        profiles=SINCE_5_3,
        items=(112,),
        steps=(
            ask(901, None, found(Text('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY)),
            ask(901, {}, found(Text('{"brokerMemberGroup":{"brokerAddrs":{}}}'), remark=ANY)),
        ),
    ),
)
