"""The server's configuration: read by 319, changed by 318, and the file that it comes from."""

from __future__ import annotations

from typing import Final

from rocketwire_tools.conformance.model.case import SINCE_5_3, Case, Severity
from rocketwire_tools.conformance.model.outcomes import Answer, Check
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
"""Properties that say something about how the file is read."""
FILE: Final = "MixAll.properties2Object, NamesrvStartup.parseCommandlineAndConfigFile @ 5.5.0"


def shows(*lines: str) -> Answer:
    """319 with these lines."""
    return found(Check("has-lines", lines), ext=None)


def _read(number: int, what: str, shown: str) -> Case:
    return Case(
        id=f"ns/319/{number}",
        requirement=what,
        evidence=FILE,
        profiles=SINCE_5_3,
        options=ODD,
        items=(120,),
        steps=(ask(319, None, shows(shown)),),
    )


CASES: Final = (
    Case(
        id="ns/319/1",
        requirement="319 MUST list all properties with their values, one per line, sorted by name.",
        evidence=READ,
        profiles=SINCE_5_3,
        items=(114,),
        steps=(
            ask(
                319, None, found(Check("sorted-lines", ("enableTopicList", "listenPort")), ext=None)
            ),
        ),
    ),
    Case(
        id="ns/319/2",
        requirement="319 MUST list unknown properties of the file unchanged.",
        evidence=READ,
        options=ODD,
        items=(114,),
        steps=(ask(319, None, shows("foo.bar=a=b:c d")),),
    ),
    Case(
        id="ns/319/3",
        requirement="319 SHOULD list Java's default values.",
        evidence="NamesrvConfig, NettyServerConfig @ 5.5.0",
        severity=Severity.SHOULD,
        profiles=SINCE_5_3,
        options=MINE,
        items=(114,),
        steps=(
            ask(
                319,
                None,
                shows(
                    "clientRequestThreadPoolNums=8",
                    "clusterTest=false",
                    "configBlackList=configBlackList;configStorePath;kvConfigPath",
                    "deleteTopicWithBrokerRegistration=false",
                    "enableAllTopicList=true",
                    "enableTopicList=true",
                    "needWaitForService=false",
                    "notifyMinBrokerIdChanged=false",
                    "orderMessageEnable=false",
                    "returnOrderTopicConfigToBroker=true",
                    "scanNotActiveBrokerInterval=5000",
                    "serverChannelMaxIdleTimeSeconds=120",
                    "supportActingMaster=false",
                    "waitSecondsForService=45",
                ),
            ),
        ),
    ),
    _read(10, "A boolean followed by a space in the file MUST be read as false.", "enableTopicList=false"),
    _read(11, "TRUE in the file MUST be read as true.", "supportActingMaster=true"),
    _read(
        12,
        "An invalid number in the file MUST NOT change the default.",
        "scanNotActiveBrokerInterval=5000",
    ),
    _read(13, "Escapes in the file MUST be decoded.", "productEnvName=aéb"),
)
