"""Patterns of values: the values that they accept, and the place of a difference."""

import pytest

from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    NO_BODY,
    NO_EXT,
    AllOf,
    Body,
    Check,
    Contains,
    Has,
    InOrder,
    JsonBody,
    Lacks,
    Like,
    Messages,
    Number,
    TextBody,
)
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run import match

NAMES = Names("run", 7)
TOPIC = NAMES.text("{topic}")


@pytest.mark.parametrize(
    ("pattern", "got"),
    [
        (ANY, None),
        ("a", "a"),
        ("{topic}", TOPIC),
        ('{"table":{}}', '{"table":{}}'),
        (Like("topic .*{topic}"), f"topic x {TOPIC}"),
        ({"{topic}": ANY}, {TOPIC: 1}),
        ({0: "a"}, {"0": "a"}),
        ([1, 2], [2, 1]),
        ((1, 1), [1, 1]),
        (Has({"a": 1}), {"a": 1, "b": 2}),
        (Contains((2,)), [1, 2, 3]),
        (Lacks(("a",)), {"b": 1}),
        (Lacks((1,)), [2]),
        (AllOf((Has({"a": 1}), Lacks(("b",)))), {"a": 1}),
        (1, 1.0),
        (None, None),
        (True, True),
    ],
)
def test_a_pattern_accepts(pattern: object, got: object) -> None:
    assert match.value(pattern, got, NAMES) is None


@pytest.mark.parametrize(
    ("pattern", "got", "details"),
    [
        ("a", "b", "value: 'b' instead of 'a'"),
        (1, "1", "value: '1' instead of 1"),
        (1, True, "value: True instead of 1"),
        (True, 1, "value: 1 instead of True"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ".a.b: 2 instead of 1"),
        ({"a": 1}, {"a": 1, "c": 1}, "object: also has ['c']"),
        ({"a": 1}, {}, ".a: missing; there are []"),
        ({}, [], "value: [] is not an object"),
        ([1], [1, 2], "list: also has [2]"),
        ([1, 2], [1], "list: [] lacks 2"),
        ([1, 1], [1, 2], "list: [2] lacks 1 (value: 2 instead of 1)"),
        ([], {}, "value: {} is not a list"),
        (Contains((1,)), 1, "value: 1 is not a list"),
        (Lacks(("a",)), {"a": 1}, "value: has 'a'"),
        (Lacks(("a",)), 3, "value: 3 is neither an object nor a list"),
        (Like("a+"), "ab", "text: 'ab' is not like 'a+'"),
        (Like("a"), None, "text: None is not like 'a'"),
    ],
)
def test_a_pattern_names_the_place_of_a_difference(
    pattern: object, got: object, details: str
) -> None:
    assert match.value(pattern, got, NAMES) == details


@pytest.mark.parametrize(
    ("pattern", "got"),
    [
        (ANY, b"x"),
        (NO_BODY, None),
        (NO_BODY, b""),
        (JsonBody({"0": "a"}), b'{0:"a"}'),
        (TextBody('{"{topic}":1}'), f'{{"{TOPIC}":1}}'.encode()),
        (Check("lacks-text", ("d",)), b"abc"),
    ],
)
def test_a_body_is_accepted(pattern: Body, got: bytes | None) -> None:
    assert match.body(pattern, got, NAMES) is None


@pytest.mark.parametrize(
    ("pattern", "got", "details"),
    [
        (NO_BODY, b"x", "body: b'x' instead of none"),
        (JsonBody({}), None, "body: missing"),
        (JsonBody({}), b"{", "body: not JSON"),
        (JsonBody({"a": 1}), b'{"a":2}', "body.a: 2 instead of 1"),
        (TextBody('{"0":1}'), b"{0:1}", "body: '{0:1}' instead of"),
        (TextBody("x"), b"\xff", "body: not UTF-8"),
        (Check("lacks-text", ("a",)), b"abc", "body: has 'a'"),
    ],
)
def test_a_body_is_refused_with_a_reason(pattern: Body, got: bytes | None, details: str) -> None:
    assert (match.body(pattern, got, NAMES) or "").startswith(details)


@pytest.mark.parametrize(
    ("pattern", "got", "accepted"),
    [
        (ANY, {"a": "b"}, True),
        (NO_EXT, None, True),
        (NO_EXT, {}, True),
        (NO_EXT, {"a": "b"}, False),
        (None, None, True),
        (None, {}, False),
        ({}, {}, True),
        ({}, None, False),
        ({"a": "b"}, {"a": "b"}, True),
    ],
)
def test_missing_and_empty_ext_fields_differ_if_a_case_requires_it(
    pattern: object, got: dict[str, str] | None, accepted: bool
) -> None:
    assert (match.ext(pattern, got, NAMES) is None) == accepted


def test_long_values_are_cut_in_messages() -> None:
    assert match.abbreviate("x" * 1000).endswith("... (1002 characters)")


def test_names_are_the_same_in_the_same_run_and_different_in_others() -> None:
    kinds = ("{topic}", "{topicB}", "{address}", "{addressB}", "{ha}")
    mine = [Names("run", 7).text(placeholder) for placeholder in kinds]

    assert mine == [Names("run", 7).text(placeholder) for placeholder in kinds]
    assert not set(mine) & {Names("run", 8).text(placeholder) for placeholder in kinds}
    assert not set(mine[:2]) & {Names("two", 7).text(placeholder) for placeholder in kinds}
    assert len(set(mine)) == len(kinds)


def test_a_case_knows_its_own_names_in_a_text() -> None:
    assert NAMES.mentioned(f"x{TOPIC}y")
    assert NAMES.mentioned(NAMES.text("{address}"))
    assert not NAMES.mentioned(Names("run", 77).text("{topic} {address}"))


def test_braces_around_anything_else_are_left_alone() -> None:
    assert NAMES.text('{"a":{}} {other} {1}') == '{"a":{}} {other} {1}'


@pytest.mark.parametrize(
    ("pattern", "got", "accepted"),
    [
        (Number(equal=3), 3, True),
        (Number(equal=3), "3", True),
        (Number(equal="{=saved+1}"), "8", True),
        (Number(equal=3), 4, False),
        (Number(least=3), 2, False),
        (Number(least=3, most=5), 5, True),
        (Number(most=5), 6, False),
        (Number(), "x", False),
        (Number(), True, False),
        (InOrder((1, ANY)), [1, 2], True),
        (InOrder((1, 2)), [2, 1], False),
        (InOrder((1,)), [1, 2], False),
        (InOrder(()), {}, False),
    ],
)
def test_numbers_and_lists_in_order(pattern: object, got: object, accepted: bool) -> None:
    names = Names("run", 7)
    names.saved["saved"] = "7"

    assert (match.value(pattern, got, names) is None) is accepted


def test_messages_are_compared_in_their_order() -> None:
    body = b"".join(
        encode_stored_message(StoredMessage(topic=TOPIC, body=text)) for text in (b"a", b"b")
    )
    first, second = Has({"topic": "{topic}", "body": "a"}), Has({"body": "b"})

    assert match.body(Messages((first, second)), body, NAMES) is None
    assert match.body(Messages((second, first)), body, NAMES) is not None
    assert match.body(Messages((first,)), body, NAMES) is not None
    assert match.body(Messages((first,)), b"no messages", NAMES) is not None


def test_saved_values_and_the_time_are_placeholders() -> None:
    names = Names("run", 7)
    names.saved["place"] = "41"
    names.clock = lambda: 5_000

    assert names.text("{=place} {=place+1} {=place-2} {=now} {=unknown}") == (
        "41 42 39 5000 {=unknown}"
    )
