"""Typed headers, bodies and registrations that Java's own classes wrote: read as Java reads them, and written again."""

import zlib
from collections.abc import Callable
from typing import Any

import pytest

from rocketwire.codes import SerializeType
from rocketwire.errors import DecodeError
from rocketwire.messages import decode_body, decode_header, encode_body, encode_header, registration
from rocketwire.messages._codec.fields import ext_fields_of, fast_codec_of
from rocketwire.messages.operations.registry import CLASSES, OPERATIONS, ArrayOf
from rocketwire.messages.topic_config import decode_topic, encode_topic
from rocketwire.wire.command import decode, encode
from rocketwire.wire.json.fastjson import Dialect
from tests.fuzz.bodies import NEWER, body_classes
from tests.fuzz.typed import ABSTRACT, header_classes, show
from tests.support.vectors import JavaVector, unlike, vectors

WRITTEN = vectors("headers/json", "headers/binary", "headers/least", "headers/fast")


@pytest.mark.parametrize("vector", WRITTEN, ids=str)
def test_a_typed_header_is_read_and_written_as_java_does(vector: JavaVector) -> None:
    cls = CLASSES[vector["class"]]
    command = decode(vector.data)
    header = decode_header(cls, command.ext_fields)

    assert show(header) == vector["value"]
    assert encode(command) == vector.data or not vector.reencodes
    if vector.reencodes:
        fields = encode_header(header, serialize_type=command.serialize_type)
        assert fields == (command.ext_fields or {})
        if command.serialize_type is SerializeType.ROCKETMQ and fast_codec_of(cls):
            assert list(fields) == list(command.ext_fields or {})


@pytest.mark.parametrize("vector", vectors("headers/texts"), ids=str)
def test_odd_texts_in_a_header_are_read_as_java_reads_them(vector: JavaVector) -> None:
    assert show(decode_header(CLASSES[vector["class"]], vector["ext"])) == vector["value"]


def test_every_class_of_header_has_a_vector_in_both_forms() -> None:
    classes = {
        name
        for name, cls in header_classes().items()
        if ext_fields_of(cls) and name not in ABSTRACT
    }

    for sheet in ("headers/json", "headers/binary"):
        assert classes == {vector["class"] for vector in vectors(sheet)}


@pytest.mark.parametrize("vector", vectors("bodies/classes-", "bodies/texts-"), ids=str)
def test_a_body_is_read_and_written_as_java_does(vector: JavaVector) -> None:
    body = decode_body(CLASSES[vector["class"]], vector.data)
    assert unlike(vector["value"], body) == []
    if vector.reencodes:
        dialect = Dialect.FASTJSON1 if vector.sheet.endswith("5.3.3") else Dialect.FASTJSON2
        assert encode_body(body, dialect=dialect) == vector.data


@pytest.mark.parametrize("vector", vectors("bodies/odd-5.5.0", "bodies/odd-5.3.3"), ids=str)
def test_an_odd_body_is_read_as_java_reads_it(vector: JavaVector) -> None:
    if vector.line.get("here") == "refused":
        with pytest.raises(DecodeError):
            decode_body(CLASSES[vector["class"]], vector.data)
        return
    assert unlike(vector["value"], decode_body(CLASSES[vector["class"]], vector.data)) == []


def _list_body_names() -> set[str]:
    """Names of the classes that are the body of some request or answer."""
    bodies: list[Any] = [
        body
        for operation in OPERATIONS.values()
        for body in (operation.request_body, operation.response_body)
    ]
    kinds = {body.element if isinstance(body, ArrayOf) else body for body in bodies}
    return {name for name, cls in CLASSES.items() if cls in kinds}


def test_every_class_of_body_has_a_vector() -> None:
    written = {vector["class"] for vector in vectors("bodies/")}
    assert set(body_classes()) - written == set()
    assert _list_body_names() - written == set(NEWER)


@pytest.mark.parametrize("vector", vectors("registrations/json", "registrations/packed"), ids=str)
def test_a_registration_is_read_and_written_as_java_does(vector: JavaVector) -> None:
    version, packed = vector["version"], vector.sheet.endswith("packed")
    body = registration.decode_register_broker_body(vector.data, compressed=packed, version=version)

    assert body is not None
    assert unlike(vector["value"], body) == []
    if vector.reencodes:
        written = registration.encode_register_broker_body(body, compressed=packed, version=version)
        if packed:  # compressed bytes depend on the compressor
            assert zlib.decompress(written) == zlib.decompress(vector.data)
        else:
            assert written == vector.data


@pytest.mark.parametrize("vector", vectors("registrations/before-37"), ids=str)
def test_a_registration_of_an_old_broker_is_read_and_written_as_java_does(
    vector: JavaVector,
) -> None:
    version = vector["version"]
    body = registration.decode_register_broker_body(vector.data, compressed=False, version=version)

    assert body is not None
    wrapper = body.topic_config_serialize_wrapper
    assert wrapper is not None
    result = (wrapper.data_version, wrapper.topic_config_table)
    assert unlike(vector["value"]["dataVersion"], result[0]) == []
    assert vector["value"]["topicConfigTable"].keys() == (result[1] or {}).keys()
    for name, topic in (result[1] or {}).items():
        assert unlike(vector["value"]["topicConfigTable"][name], topic) == []
    written = registration.encode_register_broker_body(body, compressed=False, version=version)
    assert written == vector.data


@pytest.mark.parametrize("vector", vectors("registrations/topics"), ids=str)
def test_the_text_of_a_topic_is_read_and_written_as_java_does(vector: JavaVector) -> None:
    topic = decode_topic(vector["text"])
    assert unlike(vector["value"], topic) == []
    if vector.reencodes:
        assert encode_topic(topic).decode() == vector["text"]


REFUSALS: dict[str, Callable[[JavaVector], object]] = {
    "header-fields": lambda vector: decode_header(CLASSES[vector["class"]], vector["ext"]),
    "bodies": lambda vector: decode_body(CLASSES[vector["class"]], vector.data),
    "registrations": lambda vector: registration.decode_register_broker_body(
        vector.data, compressed=vector["compressed"], version=vector["version"]
    ),
    "topics": lambda vector: decode_topic(vector["text"]),
}


@pytest.mark.parametrize(
    ("form", "vector"),
    [(form, vector) for form in REFUSALS for vector in vectors(f"java/{form}", kind="refusals")],
    ids=str,
)
def test_what_java_refuses_is_refused(form: str, vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        REFUSALS[form](vector)
