"""Frames, stored messages and texts of Java's classes, read and written below the typed layer."""

from typing import Any

import pytest

from rocketwire.errors import DecodeError
from rocketwire.signing import SigningAlgorithm, sign, signature_of, signed_content, verify
from rocketwire.wire.checksum import crc32
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, encode
from rocketwire.wire.message.batch import BatchMessage, decode_batch, encode_batch
from rocketwire.wire.message.body_compression import CompressionType, compress_body, decompress_body
from rocketwire.wire.message.ids import (
    create_offset_message_id,
    decode_offset_message_id,
    decode_unique_key,
    encode_unique_key,
)
from rocketwire.wire.message.lazy_reader import decode_stored_messages
from rocketwire.wire.message.properties import decode_properties, encode_properties
from rocketwire.wire.message.stored import encode_stored_message, unwrap_inner_batch
from tests.fuzz.headers import neutral
from tests.fuzz.messages import show
from tests.support import vectors as javavectors
from tests.support.vectors import JavaVector, vectors

MAX_INFLATED = 1 << 16


@pytest.mark.parametrize("vector", vectors("frames/"), ids=str)
def test_a_frame_is_read_as_java_reads_it_and_written_as_java_writes_it(vector: JavaVector) -> None:
    if vector.line.get("here") == "refused":
        with pytest.raises(DecodeError, match="header"):
            decode(vector.data)
        return
    command = decode(vector.data)

    assert neutral(command) == {**vector["value"], **vector.line.get("here", {})}
    if vector.reencodes:
        assert encode(command) == vector.data


@pytest.mark.parametrize("name", ["frames/json-5.5.0", "frames/json-5.3.3", "frames/binary"])
def test_a_stream_of_all_frames_gives_the_commands_that_one_by_one_give(name: str) -> None:
    frames = [vector.data for vector in vectors(name)]
    decoder = CommandDecoder()
    commands: list[RemotingCommand] = []
    stream = b"".join(frames)
    for start in range(0, len(stream), 1000):
        decoder.feed(stream[start : start + 1000])
        while (command := decoder.next_command()) is not None:
            commands.append(command)

    assert commands == [decode(frame) for frame in frames]


@pytest.mark.parametrize(
    "vector", vectors("stored/messages", "stored/second-layout", "stored/compressed"), ids=str
)
def test_stored_messages_are_read_as_java_reads_them(vector: JavaVector) -> None:
    messages = decode_stored_messages(vector.data)
    assert [show(message) for message in messages] == vector["value"]
    if vector.reencodes:
        assert b"".join(map(encode_stored_message, messages)) == vector.data


@pytest.mark.parametrize("vector", vectors("stored/compressed"), ids=str)
def test_a_compressed_message_is_written_as_it_was_unless_inflated(vector: JavaVector) -> None:
    messages = decode_stored_messages(vector.data, decompress=False)
    assert b"".join(map(encode_stored_message, messages)) == vector.data


@pytest.mark.parametrize("vector", vectors("stored/inner-batches"), ids=str)
def test_an_inner_batch_gives_the_messages_that_java_finds_in_it(vector: JavaVector) -> None:
    (outer,) = decode_stored_messages(vector.data)

    def without_ids(message: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in message.items() if name not in vector["here"]}

    result = [without_ids(show(message)) for message in unwrap_inner_batch(outer)]
    assert result == [without_ids(message) for message in vector["value"]]
    assert encode_stored_message(outer) == vector.data


def _show_message(message: BatchMessage) -> dict[str, Any]:
    return {
        "flag": message.flag,
        "body": message.body.hex(),
        "properties": dict(message.properties),
    }


@pytest.mark.parametrize("vector", vectors("stored/batches"), ids=str)
def test_a_batch_is_read_and_written_as_java_does(vector: JavaVector) -> None:
    batch = decode_batch(vector.data)
    assert [_show_message(message) for message in batch] == vector["value"]
    if vector.reencodes:
        assert encode_batch(batch) == vector.data


@pytest.mark.parametrize("vector", vectors("stored/bodies"), ids=str)
def test_what_java_compressed_is_inflated_and_what_we_compress_inflates(vector: JavaVector) -> None:
    compression, body = CompressionType[vector["type"]], bytes.fromhex(vector["value"])
    assert decompress_body(vector.data, compression, max_size=MAX_INFLATED) == body
    assert (
        decompress_body(compress_body(body, compression), compression, max_size=MAX_INFLATED)
        == body
    )


@pytest.mark.parametrize("vector", vectors("texts/properties"), ids=str)
def test_properties_are_read_and_written_as_java_does(vector: JavaVector) -> None:
    properties = decode_properties(vector["text"])
    assert properties == vector["value"]
    if vector.reencodes:
        assert encode_properties(properties) == vector["text"]
    if "map" in vector.line:
        assert encode_properties(vector["map"]) == vector["text"]


@pytest.mark.parametrize("vector", vectors("texts/message-ids"), ids=str)
def test_a_message_id_says_what_java_reads_from_it(vector: JavaVector) -> None:
    host, offset = decode_offset_message_id(vector["text"])
    assert {"host": host.ip, "port": host.port, "offset": offset} == vector["value"]
    assert create_offset_message_id(host, offset) == vector["text"].upper()


@pytest.mark.parametrize("vector", vectors("texts/unique-keys"), ids=str)
def test_a_unique_key_says_what_java_reads_from_it(vector: JavaVector) -> None:
    key = decode_unique_key(vector["text"])
    assert {"ip": key.address.hex(), "pid": key.process_id} == vector["value"]
    assert encode_unique_key(key) == vector["text"].upper()


@pytest.mark.parametrize("vector", vectors("checksums/"), ids=str)
def test_a_checksum_is_that_of_java(vector: JavaVector) -> None:
    assert crc32(vector.data) == vector["value"]


@pytest.mark.parametrize("vector", vectors("signatures/commands"), ids=str)
def test_a_command_is_signed_as_a_java_client_signs_it(vector: JavaVector) -> None:
    line = vector.line
    body = bytes.fromhex(line["body"]) if "body" in line else None
    command = RemotingCommand(code=10, opaque=7, ext_fields=line.get("ext"), body=body)
    signed = sign(command, line["access_key"], line["secret_key"], line.get("security_token"))

    fields = dict(signed.ext_fields or {})
    assert fields == line["value"]["ext"]
    assert signed_content(fields, body).hex() == line["value"]["content"]
    assert verify(signed, line["secret_key"])
    assert not verify(signed, line["secret_key"] + "x")


@pytest.mark.parametrize("vector", vectors("signatures/bytes"), ids=str)
def test_bytes_have_the_signature_that_java_gives_them(vector: JavaVector) -> None:
    algorithm = SigningAlgorithm(vector["algorithm"])
    assert signature_of(vector.data, vector["secret_key"], algorithm=algorithm) == vector["value"]


@pytest.mark.parametrize(
    "vector", vectors("java/json-headers", "java/binary-headers", kind="refusals"), ids=str
)
def test_a_frame_that_java_refuses_is_refused(vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        decode(vector.data)


@pytest.mark.parametrize("vector", vectors("java/stored", kind="refusals"), ids=str)
def test_a_stored_message_that_java_refuses_is_refused(vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        decode_stored_messages(vector.data)
    assert decode_stored_messages(vector.data, strict=False) == ()


@pytest.mark.parametrize("vector", vectors("java/batches", kind="refusals"), ids=str)
def test_a_batch_that_java_refuses_is_refused(vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        decode_batch(vector.data)


@pytest.mark.parametrize("vector", vectors("java/compressed", kind="refusals"), ids=str)
def test_bytes_that_java_cannot_inflate_are_refused(vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        decompress_body(vector.data, CompressionType[vector["type"]], max_size=MAX_INFLATED)


@pytest.mark.parametrize("vector", vectors("java/message-ids", kind="refusals"), ids=str)
def test_a_message_id_that_java_refuses_is_refused(vector: JavaVector) -> None:
    with pytest.raises(vector.error):
        decode_offset_message_id(vector["text"])


def test_the_manifest_counts_the_vectors_of_each_sheet() -> None:
    for group in ("vectors", "refusals"):
        counts = {sheet: entry["count"] for sheet, entry in javavectors.sheets(group).items()}
        assert counts == {sheet: len(vectors(sheet, kind=group)) for sheet in counts}
