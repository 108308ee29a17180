"""rocketwire declares the fields of Java 5.5.1's classes, and marks those as newer that older releases lack."""

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from rocketwire.codes import SINCE, LanguageCode, RequestCode, ResponseCode, SerializeType
from rocketwire.messages import decode_body
from rocketwire.messages._codec.fields import ext_fields_of, members_of
from rocketwire.messages.operations.registry import CLASSES
from rocketwire.versions import CURRENT_VERSION, MQVersion
from tests.fuzz.trees import of_java, of_ours
from tests.fuzz.trials import differences
from tests.peers.oracle import Oracle

Dump = dict[str, Any]

NEWEST = "5.5.1"

NOT_IN_JAVA = {repr(code) for code, release in SINCE.items() if release is None}

LEFT_OUT = {"isLiteConsumer", "pullOffsetTable"}
"""Fields that only 5.5.1 has and always sends; here they are left out unless they are set, as 5.5.0 does."""

NO_BODIES = {
    "DefaultMetadataStore.TieredMetadataSerializeWrapper": "a file of tiered storage",
    "FileSegmentMetadata": "part of a file of tiered storage",
    "QueueMetadata": "part of a file of tiered storage",
    "TopicMetadata": "part of a file of tiered storage",
    "TopicQueueMappingUtils": "a holder of functions",
    "TopicQueueMappingUtils.MappingAllocator": "a step of an admin tool's calculation",
}
"""Classes that the dump finds among bodies and that no peer sends, with the reason."""

INCOMPLETE = {"EpochEntry": b'{"epoch":1,"startOffset":2}', "SyncStateSet": b'{"syncStateSet":[1]}'}
"""Texts with what Java's constructors insist on."""

CLOCKS = ("timestamp", "timeStamp", "subVersion")
"""Members that Java fills with its clock."""

GONE_SINCE_4_9 = {
    "request_codes": {
        *("UPDATE_AND_CREATE_ACL_CONFIG", "DELETE_ACL_CONFIG", "GET_BROKER_CLUSTER_ACL_INFO"),
        *("GET_BROKER_CLUSTER_ACL_CONFIG", "UPDATE_GLOBAL_WHITE_ADDRS_CONFIG"),
    },
    "headers": {
        *(
            "CreateAccessConfigRequestHeader",
            "DeleteAccessConfigRequestHeader",
            "GetBrokerAclConfigResponseHeader",
        ),
        *("GetBrokerClusterAclConfigResponseHeader", "UpdateGlobalWhiteAddrsConfigRequestHeader"),
        *("RegisterFilterServerRequestHeader", "RegisterFilterServerResponseHeader"),
        "RegisterMessageFilterClassRequestHeader",
    },
    "bodies": {
        "ClusterAclVersionInfo",
        "GetBrokerClusterAclConfigResponseBody",
        "PlainAccessConfig",
    },
}
"""Classes of 4.9.4 that 5.5.1 lacks: its access control and its filter servers."""


HEADERS = {
    name: cls
    for name, cls in CLASSES.items()
    if not any("member" in field.metadata for field in dataclasses.fields(cls))
}
BODIES = {name: cls for name, cls in CLASSES.items() if name not in HEADERS}


@pytest.mark.parametrize(
    ("ours", "java"),
    [
        (RequestCode, "request_codes"),
        (ResponseCode, "response_codes"),
        (LanguageCode, "languages"),
        (SerializeType, "serialize_types"),
        (MQVersion, "versions"),
    ],
)
def test_numbers_are_those_of_java(ours: Any, java: str, dump_of: Callable[[str], Dump]) -> None:
    in_java = {member.name: int(member) for member in ours if repr(member) not in NOT_IN_JAVA}
    assert in_java == dump_of(NEWEST)[java]


def test_the_current_version_is_that_of_java(dump_of: Callable[[str], Dump]) -> None:
    assert dump_of("5.5.0")["current_version"] == CURRENT_VERSION


@pytest.mark.full
def test_codes_that_5_3_3_lacks_are_said_to_be_newer(dump_of: Callable[[str], Dump]) -> None:
    older = dump_of("5.3.3")
    known_names = older["request_codes"].keys() | older["response_codes"].keys()
    newer = {code for code in (*RequestCode, *ResponseCode) if code.name not in known_names}

    assert newer == SINCE.keys()


def test_codes_that_5_5_0_lacks_are_said_to_be_newer(dump_of: Callable[[str], Dump]) -> None:
    newest = dump_of("5.5.0")
    known_names = newest["request_codes"].keys() | newest["response_codes"].keys()

    assert {code for code in (*RequestCode, *ResponseCode) if code.name not in known_names} == {
        code for code, release in SINCE.items() if release in (NEWEST, None)
    }


@pytest.mark.full
def test_older_releases_have_no_number_that_means_something_else(
    dump_of: Callable[[str], Dump],
) -> None:
    for version in ("5.3.3", "4.9.4"):
        for ours, java in (
            (RequestCode, "request_codes"),
            (LanguageCode, "languages"),
            (MQVersion, "versions"),
        ):
            known_names = {member.name: int(member) for member in ours}
            moved = {
                name: value
                for name, value in dump_of(version)[java].items()
                if known_names.get(name, value) != value
            }
            assert moved == {}, version


def test_every_header_class_of_java_is_here_and_no_other(dump_of: Callable[[str], Dump]) -> None:
    assert set(HEADERS) == set(dump_of(NEWEST)["headers"])


def test_every_body_class_of_java_is_here_and_no_other(dump_of: Callable[[str], Dump]) -> None:
    assert set(BODIES) == set(dump_of(NEWEST)["bodies"]) - set(NO_BODIES)


@pytest.mark.parametrize("name", sorted(BODIES))
def test_an_empty_body_has_the_defaults_of_java(
    name: str, oracle_of: Callable[[str], Oracle]
) -> None:
    text = INCOMPLETE.get(name, b"{}")
    answer = oracle_of(NEWEST).ask("body_decode", **{"class": name, "hex": text.hex()})
    different = differences(of_java(answer["value"]), of_ours(decode_body(BODIES[name], text)))

    assert [item for item in different if item.path[-1] not in (*CLOCKS, *LEFT_OUT)] == []


def _newer(table_name: str, older: Dump, newest: Dump) -> dict[str, set[str]]:
    listed = "members" if table_name == "bodies" else "fields"

    def names(described: Dump) -> set[str]:
        return {item if isinstance(item, str) else item["name"] for item in described[listed] or ()}

    both = older[table_name].keys() & newest[table_name].keys()
    return {
        name: gained
        for name in both
        if (gained := names(newest[table_name][name]) - names(older[table_name][name]))
    }


@pytest.mark.full
def test_members_that_5_3_3_lacks_are_said_to_be_newer(dump_of: Callable[[str], Dump]) -> None:
    older, newest = dump_of("5.3.3"), dump_of(NEWEST)
    gained = {**_newer("headers", older, newest), **_newer("bodies", older, newest)}
    known_names = older["headers"].keys() | older["bodies"].keys()
    marked = {
        name: {
            item.wire
            for item in (members_of(cls) if name in BODIES else ext_fields_of(cls)).values()
            if item.since
        }
        for name, cls in CLASSES.items()
        if name in known_names
    }

    assert {name: wires for name, wires in marked.items() if wires} == {
        name: wires for name, wires in gained.items() if name in CLASSES
    }


@pytest.mark.full
def test_4_9_has_exactly_the_names_of_this_table(dump_of: Callable[[str], Dump]) -> None:
    old = dump_of("4.9.4")
    gone = {
        "request_codes": set(old["request_codes"]) - {code.name for code in RequestCode},
        "headers": set(old["headers"]) - set(HEADERS),
        "bodies": set(old["bodies"]) - set(BODIES) - set(NO_BODIES),
    }

    assert gone == GONE_SINCE_4_9
    assert len(old["request_codes"]) == 96
    assert len(old["headers"]) == 80
