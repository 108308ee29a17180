"""The server's configuration: code 319 and the configuration file."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.cases.common import shows
from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, case
from rocketwire_tools.conformance.model.outcomes import Check
from rocketwire_tools.conformance.model.requests import ask, found

READ: Final = "DefaultRequestProcessor.getConfig, Configuration.getAllConfigsFormatString @ 5.5.0"
MINE: Final = {"conformance.key": "mine"}
ODD: Final = {
    "foo.bar": "a=b\\:c d",
    "enableTopicList": "true ",
    "supportActingMaster": "TRUE",
    "scanNotActiveBrokerInterval": "9x",
    "productEnvName": "a\\u00e9b",
}
"""Properties that show how the file is parsed."""
FILE: Final = "MixAll.properties2Object, NamesrvStartup.parseCommandlineAndConfigFile @ 5.5.0"


def _read(number: int, what: str, shown: str) -> Case:
    return case(
        f"ns/319/{number}",
        what,
        ask(319, None, shows(shown)),
        evidence=FILE,
        items=(120,),
        profiles=SINCE_5_3,
        options=ODD,
    )


CASES: Final = (
    case(
        "ns/319/1", "319 MUST list all properties with their values, one per line, sorted by name.",
        ask(319, None, found(Check("sorted-lines", ("enableTopicList", "listenPort")), ext=None)),
        evidence=READ, items=(114,), profiles=SINCE_5_3,
    ),
    case(
        "ns/319/2", "319 MUST list unknown properties of the file unchanged.",
        ask(319, None, shows("foo.bar=a=b:c d")),
        evidence=READ, items=(114,), options=ODD,
    ),
    case(
        "ns/319/3", "319 SHOULD list Java's default values.",
        ask(
            319, None,
            shows(
                "clientRequestThreadPoolNums=8", "clusterTest=false",
                "configBlackList=configBlackList;configStorePath;kvConfigPath",
                "deleteTopicWithBrokerRegistration=false", "enableAllTopicList=true",
                "enableTopicList=true", "needWaitForService=false",
                "notifyMinBrokerIdChanged=false", "orderMessageEnable=false",
                "returnOrderTopicConfigToBroker=true", "scanNotActiveBrokerInterval=5000",
                "serverChannelMaxIdleTimeSeconds=120", "supportActingMaster=false",
                "waitSecondsForService=45",
            ),
        ),
        evidence="NamesrvConfig, NettyServerConfig @ 5.5.0", items=(114,), profiles=SINCE_5_3,
        options=MINE,
    ),
    _read(
        10, "A boolean followed by a space in the file MUST be read as false.",
        "enableTopicList=false",
    ),
    _read(11, "TRUE in the file MUST be read as true.", "supportActingMaster=true"),
    _read(
        12, "An invalid number in the file MUST NOT change the default.",
        "scanNotActiveBrokerInterval=5000",
    ),
    _read(13, "Escapes in the file MUST be decoded.", "productEnvName=aéb"),
)  # fmt: skip
