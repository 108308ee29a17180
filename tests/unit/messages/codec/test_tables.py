"""Every class and field, compared with tables of Java 5.5.0 (``tests/fixtures/reference``)."""

import dataclasses
import json
import re
from enum import Enum
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from rocketwire.codes import SINCE, LanguageCode, RequestCode
from rocketwire.messages import enums
from rocketwire.messages._codec.fields import ext_fields_of, fast_codec_of, java_name, members_of
from rocketwire.messages._codec.headers import Ext
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS, ArrayOf, Body, Raw

REFERENCE = Path(__file__).parents[3] / "fixtures" / "reference"


def table(name: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((REFERENCE / name).read_text("utf-8"))
    return result


HEADERS = table("headers.json")
BODIES = table("bodies.json")
OPERATION_TABLE = table("operations.json")["operations"]
ENUMS = table("operations.json")["enums"]

NEVER_JSON = {
    "RemotingCommand": "the frame's header, in rocketwire.wire.command",
    "Message": "never sent as JSON",
    "MessageExt": "never sent as JSON",
    "MessageClientExt": "never sent as JSON",
}

RAW_BODIES = {
    "raw message body bytes": Raw.MESSAGE_BODY,
    "messages(store-encoded, concatenated)": Raw.STORED_MESSAGES,
    "one message (store-encoded)": Raw.STORED_MESSAGE,
    "one message (store-encoded, always V1 magic)": Raw.STORED_MESSAGE,
    "text/properties": Raw.PROPERTIES,
    "batch encoding (see wire.md)": Raw.MESSAGE_BATCH,
    "JSON array of broker names": Raw.JSON_TEXTS,
    "consumer group name, UTF-8 text": Raw.TEXT,
    "JSON text built ad hoc": Raw.JSON,
}

CLOCK = "now_ms"


def plain_type(java: str) -> str:
    """A Java type without the choice of implementation."""
    java = re.sub(r"\b(?:Hash|Tree)(Map|Set)\b", r"\1", java)
    java = java.replace("ConcurrentHashMap", "ConcurrentMap").replace("AtomicLong", "Long")
    return {"Properties": "Map<String, String>", "Type": "OffsetOption.Type"}.get(java, java)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def plain_value(value: Any) -> Any:
    """A default as the tables write it."""
    if isinstance(value, Enum):
        return value.name
    if is_tuple(value):
        return list(value)
    if dataclasses.is_dataclass(value):
        return {
            field.wire: CLOCK if field.clock else plain_value(getattr(value, name))
            for name, field in members_of(type(value)).items()
            if field.clock or getattr(value, name) is not None
        }
    return value


def default_of(field: dataclasses.Field[Any], *, clock: bool) -> Any:
    if clock:
        return CLOCK
    if field.default_factory is not dataclasses.MISSING:
        return plain_value(field.default_factory())
    return None if field.default is dataclasses.MISSING else plain_value(field.default)


def zero_of(java: str) -> Any:
    zeros = {"int": 0, "long": 0, "byte": 0, "double": 0.0, "boolean": False}
    return zeros.get(java)


def header_default(field: dataclasses.Field[Any], member: Ext) -> Any:
    default = default_of(field, clock=member.clock)
    return zero_of(member.form.java) if default is None else default


def test_no_class_is_missing_and_none_is_invented() -> None:
    assert set(CLASSES) == (set(HEADERS) | set(BODIES)) - set(NEVER_JSON)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_has_the_fields_of_java(name: str) -> None:
    cls = CLASSES[name]
    defaults = {field.name: field for field in dataclasses.fields(cls)}
    ours = {
        field.wire: (
            field.form.java,
            field.required,
            header_default(defaults[attribute], field),
            field.since,
        )
        for attribute, field in ext_fields_of(cls).items()
    }

    assert ours == {
        field["name"]: (
            field["java_type"],
            field.get("required", False),
            field.get("default"),
            field.get("since"),
        )
        for field in HEADERS[name]["fields"]
    }


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_inherits_as_in_java(name: str) -> None:
    base = HEADERS[name].get("extends")
    assert [java_name(cls) for cls in CLASSES[name].__bases__] == [base or "object"]


def test_only_the_fast_headers_have_an_order_of_their_own() -> None:
    expected = {
        name: tuple(header["fast_codec_keys"])
        for name, header in HEADERS.items()
        if "fast_codec_keys" in header
    }
    actual = {
        name: fast_codec_of(CLASSES[name]) for name in HEADERS if fast_codec_of(CLASSES[name])
    }

    assert len(expected) == 4
    assert actual == expected


def test_the_headers_that_java_checks_are_the_ones_that_we_check() -> None:
    ours = {
        name
        for name in HEADERS
        if any(field.check is not None for field in ext_fields_of(CLASSES[name]).values())
    }

    # the table was made from a snapshot without the check of GetLiteClientInfoRequestHeader
    expected = {name for name, header in HEADERS.items() if "check_fields" in header}
    assert ours == expected | {"GetLiteClientInfoRequestHeader"}


def body_default(member: dict[str, Any]) -> Any:
    default, java = member.get("default"), member["java_type"]
    if default == "default-constructed object":
        return plain_value(CLASSES[plain_type(java)]())
    return zero_of(java) if default is None else default


@pytest.mark.parametrize("name", [name for name in BODIES if name not in NEVER_JSON])
def test_a_body_has_the_members_of_java(name: str) -> None:
    cls = CLASSES[name]
    defaults = {field.name: field for field in dataclasses.fields(cls)}
    ours = {
        field.wire: (
            field.form.java,
            default_of(defaults[attribute], clock=field.clock),
            list(field.also),
            field.write_only,
            field.since,
        )
        for attribute, field in members_of(cls).items()
    }

    assert ours == {
        member["name"]: (
            plain_type(member["java_type"]),
            body_default(member),
            member.get("also_read_as", []),
            member.get("write_only", False),
            member.get("since"),
        )
        for member in BODIES[name]["fields"]
    }


@pytest.mark.parametrize("name", [name for name in BODIES if name not in NEVER_JSON])
def test_java_writes_members_in_ascending_order(name: str) -> None:
    ours = sorted(field.wire for field in members_of(CLASSES[name]).values())
    assert ours == BODIES[name]["emission_order"]


@pytest.mark.parametrize(
    "name", [name for name in ENUMS if name not in ("LanguageCode", "SerializeType")]
)
def test_an_enumeration_has_the_constants_of_java(name: str) -> None:
    renamed = {"OffsetOption.Type": "OffsetOptionType"}.get(name, name)
    unused = {"CheckRocksdbCqWriteResult.CheckStatus", "MessageQueueRouteState"}
    if name in unused:
        assert not hasattr(enums, renamed)
        return
    assert [member.name for member in getattr(enums, renamed)] == ENUMS[name]


def test_ordinals_of_languages_are_their_numbers() -> None:
    assert [language.name for language in LanguageCode] == ENUMS["LanguageCode"]
    assert [int(language) for language in LanguageCode] == list(range(len(LanguageCode)))


def describe_body(body: Body) -> str | Raw | None:
    """A body as the table names it."""
    if body is None or isinstance(body, Raw):
        return body
    if isinstance(body, ArrayOf):
        return f"JSON array of {java_name(body.element)}"
    return java_name(body).rpartition(".")[2]


def read_body(text: str | None) -> str | Raw | None:
    if text is None:
        return None
    if text.startswith("binary 56 bytes"):
        return Raw.TIMER_CHECKPOINT
    if text.startswith("broker->client leg"):
        return Raw.STORED_MESSAGE
    return RAW_BODIES.get(text, text)


def test_every_operation_of_java_is_in_the_registry() -> None:
    in_java = {
        code.name for code in map(RequestCode, OPERATIONS) if SINCE.get(code, "") is not None
    }
    assert in_java == set(OPERATION_TABLE)
    assert list(OPERATIONS) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", OPERATION_TABLE)
def test_an_operation_carries_the_classes_of_java(name: str) -> None:
    expected = OPERATION_TABLE[name]
    operation = OPERATIONS[expected["code"]]

    assert operation.code is RequestCode[name]
    for side in ("request_header", "response_header"):
        header: type[Any] | None = getattr(operation, side)
        assert (None if header is None else java_name(header)) == expected.get(side)
    for side in ("request_body", "response_body"):
        assert describe_body(getattr(operation, side)) == read_body(expected.get(side))
