"""The cases themselves: addresses, words and evidence, that all of the checklist is there, and what is sent is what was meant."""

import gzip
import re
import struct
import zlib
from collections.abc import Sequence

import pytest

from rocketwire.messages.registration import decode_register_broker_body
from rocketwire_tools.conformance import broker_cases
from rocketwire_tools.conformance.cases import ALL
from rocketwire_tools.conformance.model.case import Case, Profile, Severity
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.model.steps import Frame, Packed, Send
from rocketwire_tools.conformance.run.match import PREDICATES

NAMES = Names("tests0", 7)
CHECKLIST = range(1, 124)
HELD_BACK = 12
"""Bytes that Java waits for before it looks at the first frame of a connection."""


of_both_servers = pytest.mark.parametrize(
    "cases", [ALL, broker_cases.ALL], ids=["name server", "broker"]
)


@of_both_servers
def test_an_address_belongs_to_one_case(cases: Sequence[Case]) -> None:
    addresses = [case.id for case in cases]

    assert len(set(addresses)) == len(addresses)
    form = r"[a-z]+(/[a-z0-9]+)?/[0-9]+" if cases is ALL else r"broker/[a-z0-9]+/[0-9]+"
    assert [address for address in addresses if not re.fullmatch(form, address)] == []


def test_every_item_of_the_checklist_has_a_case() -> None:
    covered = {item for case in ALL for item in case.items}

    assert set(CHECKLIST) - covered == set()
    assert covered - set(CHECKLIST) == set()


def test_there_are_enough_cases_for_every_generation() -> None:
    counts = {profile: sum(profile in case.profiles for case in ALL) for profile in Profile}

    assert counts[Profile.JAVA_5_5] >= 400
    assert counts[Profile.JAVA_5_3] >= 380
    assert counts[Profile.JAVA_4_9] >= 200


@of_both_servers
def test_a_requirement_is_a_sentence_with_the_word_of_its_severity(cases: Sequence[Case]) -> None:
    words = {Severity.MUST: "MUST", Severity.SHOULD: "SHOULD", Severity.NOTE: "MAY"}
    wrong = [
        case.requirement
        for case in cases
        if not re.search(rf"\b{words[case.severity]}\b.*\.$", case.requirement, re.DOTALL)
    ]

    assert wrong == []


@of_both_servers
def test_the_evidence_names_something_of_javas_and_a_release(cases: Sequence[Case]) -> None:
    wrong = [case.id for case in cases if not re.search(r"\w+.* @ \d\.\d\.\d", case.evidence)]

    assert wrong == []


def test_literal_frames_that_come_first_are_more_than_java_holds_back() -> None:
    too_short = [
        case.id
        for case in ALL
        if isinstance(case.steps[0], Send)
        for part in case.steps[0].parts[:1]
        if isinstance(part, Frame) and 8 + len(part.header) + len(part.body) < HELD_BACK
    ]

    assert too_short == []


def test_the_codec_reads_a_packed_body() -> None:
    mapping = '{"bname":"{broker}","topic":"{topic}","totalQueues":8}'
    body = Packed(mappings=(mapping,), filters='["f:1"]').encode(NAMES)
    read = decode_register_broker_body(body, compressed=True, version=479)
    assert read is not None
    wrapper = read.topic_config_serialize_wrapper

    assert wrapper is not None
    assert set(wrapper.topic_config_table or ()) == {"topic-tests0-0007", "topicB-tests0-0007"}
    assert set(wrapper.topic_queue_mapping_info_map or ()) == {"topic-tests0-0007"}
    assert list(read.filter_server_list or ()) == ["f:1"]


def test_a_packed_body_can_be_wrong_in_every_way() -> None:
    unpacked = Packed(form="plain").encode(NAMES)

    assert zlib.decompress(Packed().encode(NAMES)) == unpacked
    assert gzip.decompress(Packed(form="gzip").encode(NAMES)) == unpacked
    assert Packed(form="plain", mappings=None).encode(NAMES) == unpacked[:-4]
    assert Packed(form="plain", cut=20, tail=b"x").encode(NAMES) == unpacked[:-20] + b"x"
    assert unpacked.endswith(struct.pack(">i", 0))


@pytest.mark.parametrize(
    ("name", "arguments", "body", "accepted"),
    [
        ("lacks-one", ("a", "b"), b"a", True),
        ("lacks-one", ("a", "b"), b"b, a", False),
        ("has-lines", ("x=1", "{topic}=2"), b"x=1\ntopic-tests0-0007=2\n", True),
        ("has-lines", ("x=1",), b"x=11\n", False),
        ("sorted-lines", ("b",), b"a=1\nb=2\n", True),
        ("sorted-lines", ("c",), b"a=1\nb=2\n", False),
        ("sorted-lines", (), b"b=1\na=2\n", False),
        ("sorted-lines", (), b"a=1\nb=2", False),
        ("sorted-lines", (), b"a=1\nb\n", False),
    ],
)
def test_a_predicate_of_bodies(
    name: str, arguments: tuple[str, ...], body: bytes, accepted: bool
) -> None:
    wrong = PREDICATES[name](body, NAMES, *arguments)

    assert (wrong is None) is accepted
