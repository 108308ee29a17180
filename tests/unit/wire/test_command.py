"""One command, either header form, from bytes and back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire import errors
from rocketwire.codes import LanguageCode, RequestCode, SerializeType
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import CommandDecoder, RemotingCommand, decode, decode_frame, encode
from rocketwire.wire.frame import MAX_FRAME_LENGTH, RawFrame

JSON, ROCKETMQ = SerializeType.JSON, SerializeType.ROCKETMQ

# both written by release 5.5.0 with version 479
JAVA_JSON = bytes.fromhex("0000008700000083") + (
    b'{"code":105,"extFields":{"topic":"TopicTest"},"flag":0,"language":"JAVA","opaque":7,'
    b'"serializeTypeCurrentRPC":"JSON","version":479}'
)
JAVA_BINARY = bytes.fromhex(
    "0000002d01000029"
    "00690001df00000007000000000000000000000014"
    "0005746f7069630000000"
    "9546f70696354657374"
)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
int16, int32 = st.integers(-(2**15), 2**15 - 1), st.integers(-(2**31), 2**31 - 1)
commands = st.builds(
    RemotingCommand,
    code=int16,
    language=st.sampled_from([LanguageCode.JAVA, LanguageCode.PYTHON, LanguageCode.RUST]),
    version=int16,
    opaque=int32,
    flag=int32,
    remark=st.none() | texts,
    ext_fields=st.none() | st.dictionaries(texts, texts, min_size=1, max_size=3),
    body=st.none() | st.binary(min_size=1, max_size=20),
    serialize_type=st.sampled_from([JSON, ROCKETMQ]),
)


def request(serialize_type: SerializeType = JSON, **changes: Any) -> RemotingCommand:
    values: dict[str, Any] = {
        "code": RequestCode.GET_ROUTEINFO_BY_TOPIC,
        "language": LanguageCode.JAVA,
        "version": 479,
        "opaque": 7,
        "ext_fields": {"topic": "TopicTest"},
        "serialize_type": serialize_type,
        **changes,
    }
    return RemotingCommand(**values)


@given(commands)
def test_every_command_comes_back(command: RemotingCommand) -> None:
    assert decode(encode(command)) == command


@pytest.mark.parametrize("form", [JSON, ROCKETMQ])
def test_an_empty_body_is_none(form: SerializeType) -> None:
    assert decode(encode(request(form, body=b""))).body is None


def test_empty_fields_differ_from_none_in_json_alone() -> None:
    assert decode(encode(request(JSON, ext_fields={}))).ext_fields == {}
    assert decode(encode(request(ROCKETMQ, ext_fields={}))).ext_fields is None


# header, declared body, and the body that RemotingCommand.decode of release 5.5.0 read
SHIFTED_BY_JAVA = [
    (b"", b"12345", b"12345"),
    (b"xy", b"12345", b"xy123"),
    (b"xyzxyz", b"12", b"xy"),
    (b"xy", None, None),
]


@pytest.mark.parametrize(("surplus", "declared", "body"), SHIFTED_BY_JAVA)
def test_bytes_left_over_in_a_binary_header_start_the_body(
    surplus: bytes, declared: bytes | None, body: bytes | None
) -> None:
    raw = RawFrame(1, JAVA_BINARY[8:] + surplus, declared)
    assert decode_frame(raw) == request(ROCKETMQ, body=body)


def test_a_code_beyond_sixteen_bits_travels_in_json_alone() -> None:
    command = request(code=RequestCode.POP_MESSAGE)
    assert decode(encode(command)) == command
    with pytest.raises(errors.EncodeError) as refusal:
        encode(request(ROCKETMQ, code=RequestCode.POP_MESSAGE))
    assert refusal.value.path == "code"


@pytest.mark.parametrize("form", [JSON, ROCKETMQ])
def test_a_frame_of_the_limit_is_written_and_no_larger_one(form: SerializeType) -> None:
    room = MAX_FRAME_LENGTH - len(encode(request(form)))
    assert len(encode(request(form, body=bytes(room)))) == MAX_FRAME_LENGTH
    with pytest.raises(errors.EncodeError) as refusal:
        encode(request(form, body=bytes(room + 1)))
    assert refusal.value.path == "length"


def test_a_header_of_the_limit_is_refused_too() -> None:
    with pytest.raises(errors.EncodeError):
        encode(request(remark="x" * 2**24))


@given(st.lists(commands, max_size=4), st.integers(1, 50))
def test_a_stream_gives_the_commands_in_order(sent: list[RemotingCommand], size: int) -> None:
    stream = b"".join(map(encode, sent))
    decoder, received = CommandDecoder(), list[RemotingCommand]()
    for start in range(0, len(stream), size):
        decoder.feed(stream[start : start + size])
        while (command := decoder.next_command()) is not None:
            received.append(command)
    assert received == sent
    assert decoder.next_command() is None
    assert (decoder.buffered, decoder.frame_started) == (0, False)


def test_a_stream_has_its_own_limit() -> None:
    decoder = CommandDecoder(max_frame_length=len(JAVA_JSON) - 1)
    decoder.feed(JAVA_BINARY + JAVA_JSON[:4])
    assert decoder.next_command() == request(ROCKETMQ)
    with pytest.raises(errors.FrameTooLargeError):
        decoder.next_command()


def test_flags_are_read_by_bit() -> None:
    both = CommandFlag.RESPONSE | CommandFlag.ONEWAY
    states = [(c.is_response, c.is_oneway) for c in (request(flag=f) for f in (0, 1, 2, both))]
    assert states == [(False, False), (True, False), (False, True), (True, True)]


def test_bytes_that_are_one_command_are_read_at_once() -> None:
    decoder = CommandDecoder()
    assert decoder.decode_only_command(JAVA_JSON) == decode(JAVA_JSON)
    assert decoder.buffered == 0
    assert decoder.next_command() is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        JAVA_JSON[:7],
        JAVA_JSON[:-1],
        JAVA_JSON + b"\0",
        JAVA_JSON * 2,
        JAVA_JSON[:4] + b"\x07" + JAVA_JSON[5:],
        JAVA_JSON[:5] + b"\xff" + JAVA_JSON[6:],
        JAVA_JSON[:8] + b"[" + JAVA_JSON[9:],
    ],
    ids=["nothing", "less than lengths", "a part", "more", "two", "type", "header", "no JSON"],
)
def test_bytes_that_are_anything_else_still_want_to_be_fed(data: bytes) -> None:
    decoder = CommandDecoder()
    assert decoder.decode_only_command(data) is None
    assert decoder.buffered == 0


def test_the_rest_of_a_part_is_no_command() -> None:
    decoder = CommandDecoder()
    decoder.feed(JAVA_JSON[:3])
    assert decoder.decode_only_command(JAVA_JSON) is None
    assert decoder.next_command() is None
    assert decoder.decode_only_command(JAVA_JSON) is None
    decoder.feed(JAVA_JSON[3:])
    assert decoder.next_command() == decode(JAVA_JSON)


def test_limits_hold_for_a_command_that_comes_alone() -> None:
    assert (
        CommandDecoder(max_frame_length=len(JAVA_JSON) - 1).decode_only_command(JAVA_JSON) is None
    )
    assert CommandDecoder(max_header_length=10).decode_only_command(JAVA_JSON) is None
