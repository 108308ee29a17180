"""Values of arrivals that later steps use."""

import pytest

from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.conformance.run.match import extract, message_values
from rocketwire_tools.conformance.run.raw_connection import Arrival

BODY = encode_stored_message(
    StoredMessage(topic="t", body=b"a", queue_offset=3, properties={"TAGS": "x"})
)


def arrival(body: bytes | None = None, **ext: str) -> Arrival:
    return Arrival("response", command=RemotingCommand(code=0, ext_fields=ext, body=body))


@pytest.mark.parametrize(
    ("path", "source", "value"),
    [
        ("ext.offset", arrival(offset="7"), "7"),
        ("ext.msgId:position", arrival(msgId="7F00000100001F9000000000000000D1"), "209"),
        ("body.a.0.b", arrival(b'{"a":[{"b":5}]}'), "5"),
        ("message.0.queueOffset", arrival(BODY), "3"),
        ("message.0.properties.TAGS", arrival(BODY), "x"),
    ],
)
def test_a_value_is_saved_by_its_path(path: str, source: Arrival, value: str) -> None:
    assert extract(path, source) == value


@pytest.mark.parametrize("path", ["ext.missing", "body.a.b", "message.1.body", "body.a.0"])
def test_a_missing_value_is_a_lookup_error(path: str) -> None:
    body = BODY if path.startswith("message") else b'{"a":"text"}'

    with pytest.raises(LookupError):
        extract(path, arrival(body))


def test_silence_has_no_values() -> None:
    with pytest.raises(LookupError):
        extract("ext.offset", None)


def test_messages_become_objects_with_javas_names() -> None:
    [message] = message_values(BODY)

    assert isinstance(message, dict)
    assert message["topic"] == "t"
    assert message["body"] == "a"
    assert message["properties"] == {"TAGS": "x"}
    assert message["storeSize"] == len(BODY)
