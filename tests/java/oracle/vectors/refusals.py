"""Input that Java's own classes refuse, with the error that it must have here."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.java.oracle.vectors import headers, registrations, stored
from tests.java.oracle.vectors.frames import build_frame
from tests.java.oracle.vectors.sheet import Javas, Line, Sheet, document
from tests.peers.oracle import Answer, Oracle

DECODE = "DecodeError"

JSON_HEADERS = (
    "[]", "1", '"a"', "{", '{"code"', '{"code":', '{"code":1', '{"code":1,', '{"code" 1}',
    '{"code":"a"}', '{"code":"1.5x"}', '{"code":[]}', '{"code":2147483648}', '{"code":-2147483649}',
    '{"code":99999999999999999999}', '{"opaque":"x"}', '{"flag":"yes"}',  '{"extFields":1}',
    '{"extFields":"a"}', '{"extFields":[1]}', '{"extFields":{"a"}}', '{"extFields":{"a":}}', '{"extFields":{"a":"b}}',
    '{"remark":"a}', '{"remark":"\\u12"}', '{"remark":tru}', '{"remark":nul}', '{"code":1}}', '{"code":1}x',
    '{"code":1}{"code":2}', "{'code':1,'remark':'a\"}", '{"a":[[}', '{"opaque":7,"x":[1,2}', "null1",
)  # fmt: skip
"""Headers that no reader of either release takes."""

BINARY_FIXED = bytes.fromhex("000a 00 0201 00000007 00000000")
BINARY_HEADERS: Mapping[str, tuple[bytes, str]] = {
    "nothing": (b"", DECODE),
    "code alone": (BINARY_FIXED[:2], DECODE),
    "without lengths": (BINARY_FIXED, DECODE),
    "remark length cut": (BINARY_FIXED + b"\0\0", DECODE),
    "remark cut": (BINARY_FIXED + bytes.fromhex("00000003 6162"), DECODE),
    "remark longer than the frame": (BINARY_FIXED + bytes.fromhex("7fffffff 6162"), DECODE),
    "remark of negative length": (BINARY_FIXED + bytes.fromhex("80000000 00000000"), DECODE),
    "fields longer than the frame": (BINARY_FIXED + bytes.fromhex("00000000 00000010 0001"), DECODE),
    "fields of the largest length": (BINARY_FIXED + bytes.fromhex("00000000 7fffffff 0001"), DECODE),
    "key longer than the fields": (BINARY_FIXED + bytes.fromhex("00000000 00000007 0009 61 00000000"), DECODE),
    "key of negative length": (BINARY_FIXED + bytes.fromhex("00000000 00000007 ffff 61 00000000"), DECODE),
    "value longer than the fields": (BINARY_FIXED + bytes.fromhex("00000000 00000007 0001 61 00000009"), DECODE),
    "value of negative length": (BINARY_FIXED + bytes.fromhex("00000000 00000007 0001 61 ffffffff"), DECODE),
    "second key cut": (BINARY_FIXED + bytes.fromhex("00000000 0000000a 0001 61 00000001 62 0009"), DECODE),
}  # fmt: skip

BODIES: tuple[tuple[str, str], ...] = (
    ("TopicRouteData", "["), ("TopicRouteData", "1"), ("TopicRouteData", "true"), ("TopicRouteData", "{"), ("TopicRouteData", '{"queueDatas":'),
    ("TopicRouteData", '{"queueDatas":[}'), ("TopicRouteData", '{"queueDatas":{"a":1}}x'), ("TopicRouteData", '{"queueDatas":[{"perm":"a"}]}'),
    ("TopicRouteData", '{"brokerDatas":[{"brokerAddrs":{"a":"b"}}]}'), ("TopicRouteData", '{"brokerDatas":[{"brokerAddrs":[1]}]}'),
    ("QueueData", '{"perm":2147483648}'), ("QueueData", '{"perm":"2147483648"}'),
    ("QueueData", '{"perm":"six"}'), ("QueueData", '{"perm" 6}'), ("QueueData", '{"brokerName":"a}'), ("QueueData", '{"perm":6}}'), ("QueueData", '{"perm":6'),
    ("OffsetWrapper", '{"brokerOffset":9223372036854775808}'), ("OffsetWrapper", '{"brokerOffset":"x"}'), ("KVTable", '{"table":1}'),
    ("KVTable", '{"table":"a"}'), ("KVTable", '{"table":[1]}'), ("KVTable", '{"table":{"a"}}'), ("ConsumeStats", '{"consumeTps":"fast"}'),
    ("ConsumeStats", '{"offsetTable":{{"topic":"a":{}}}'), ("ConsumeStats", '{"offsetTable":[1]}'),
    ("ClusterInfo", '{"clusterAddrTable":{"a":1}}'), ("ClusterInfo", '{"brokerAddrTable":{"a":1}}'), ("TopicList", '{"topicList":1}'),
    ("TopicList", '{"topicList":["a"'), ("BrokerData", '{"enableActingMaster":"maybe"}'),
    ("BrokerData", '{"enableActingMaster":{}}'), ("DataVersion", '{"counter":"x"}'),
    ("LockBatchRequestBody", '{"mqSet":[1]}'),
)  # fmt: skip

TOPICS = (
    "", "a", "a 1", "a 1 2", "a 1 2 6", "a 1 2 6 NO_SUCH_TAG {}", "a x 2 6 SINGLE_TAG {}", "a 1 2 6.0 SINGLE_TAG {}", "a  2 6 SINGLE_TAG {}",
    "a 2147483648 2 6 SINGLE_TAG {}", "a b 1 2 6 SINGLE_TAG {}", "a 1 2 6 single_tag {}", "a 1 2 6 0 {}",
)  # fmt: skip
MESSAGE_IDS = ("", "0A", "0A00000100002A9F", "0A00000100002A9F00000000000000", "0A000001FFFFFFFF0000000000000001", "0A00000100010000FFFFFFFFFFFFFFFF")  # fmt: skip


def sheets(java: Javas) -> Iterator[Sheet]:
    how = "RemotingCommand.decode refuses them"
    yield Sheet("bad/java/json-headers.jsonl", how, list(_json_headers(java)))
    yield Sheet("bad/java/binary-headers.jsonl", how, list(_binary_headers(java)))
    how = "RemotingCommand.decodeCommandCustomHeader refuses them"
    yield Sheet("bad/java/header-fields.jsonl", how, list(_fields(java.newest)))
    how = "RemotingSerializable.decode refuses them"
    yield Sheet("bad/java/bodies.jsonl", how, list(_bodies(java)))
    how = "RegisterBrokerBody.decode refuses them"
    yield Sheet("bad/java/registrations.jsonl", how, list(_registrations(java.newest)))
    how = "TopicConfig.decode refuses them"
    yield Sheet("bad/java/topics.jsonl", how, list(_topics(java.newest)))
    how = "MessageDecoder.decode refuses them"
    yield Sheet("bad/java/stored.jsonl", how, list(_store(java.newest)))
    how = "MessageDecoder.decodeMessages refuses them"
    yield Sheet("bad/java/batches.jsonl", how, list(_batches(java.newest)))
    how = "Compressor.decompress refuses them"
    yield Sheet("bad/java/compressed.jsonl", how, list(_compress(java.newest)))
    how = "MessageDecoder.decodeMessageId refuses them"
    yield Sheet("bad/java/message-ids.jsonl", how, list(_ids(java.newest)))


def _refuse(line: Line, answers: Iterable[Answer], error: str = DECODE) -> Line:
    """The line with the error that it has to be.

    Raises:
        ValueError: a release reads it.
    """
    errors: list[Any] = []
    for answer in answers:
        if answer["ok"]:
            raise ValueError(f"Java reads {line}: {answer}")
        errors.append(answer["error"])
    return {**line, "java": errors, "error": error}


def _of_both(java: Javas, op: str, **members: object) -> list[Answer]:
    return [java.newest.ask(op, **members), java.older.ask(op, **members)]


def _json_headers(java: Javas) -> Iterator[Line]:
    for header in JSON_HEADERS:
        frame = build_frame(header.encode()).hex()
        line: Line = {"id": header, "hex": frame}
        yield _refuse(line, _of_both(java, "decode_frame", hex=frame))


def _binary_headers(java: Javas) -> Iterator[Line]:
    for title, (header, error) in BINARY_HEADERS.items():
        frame = build_frame(header, form=1).hex()
        answers = _of_both(java, "decode_frame", hex=frame)
        yield _refuse({"id": title, "hex": frame}, answers, error)


def _fields(oracle: Oracle) -> Iterator[Line]:
    for title, name, fields, answer in headers.odd_fields(oracle):
        header = answer["command"]["header"]
        if "@error" in header:
            line: Line = {"id": title, "class": name, "ext": fields}
            yield _refuse(line, [{"ok": False, **header["@error"]}])


def _bodies(java: Javas) -> Iterator[Line]:
    for name, text in BODIES:
        answers = _of_both(java, "body_decode", **{"class": name, "text": text})
        line: Line = {"id": f"{name} {text}", "class": name, **document(text.encode())}
        yield _refuse(line, answers)


def _registrations(oracle: Oracle) -> Iterator[Line]:
    value = {
        "filterServerList": ["10.0.0.1:1"],
        "topicConfigSerializeWrapper": registrations.wrapper(
            topicConfigTable={"T": registrations.topic("T")}
        ),
    }
    sample = oracle.find("register_encode", value=value, compressed=True)
    data, inflated = bytes.fromhex(sample["hex"]), bytes.fromhex(sample["plain"])
    version = 4 + int.from_bytes(inflated[:4], "big")  # where the number of topics stands

    def pack(changed: bytes) -> bytes:
        return zlib.compress(changed, 9)

    def word(place: int, number: int) -> bytes:
        return pack(
            inflated[:place] + (number & 0xFFFFFFFF).to_bytes(4, "big") + inflated[place + 4 :]
        )

    yield from _registration(oracle, "no zlib stream", b"{}")
    yield from _registration(oracle, "half a zlib stream", data[: len(data) // 2])
    yield from _registration(oracle, "damaged zlib stream", data[:9] + b"\xff\xff" + data[11:])
    yield from _registration(oracle, "nothing inside", pack(b""))
    for size in (3, 4, 20, version, version + 2, version + 4, version + 6, version + 12):
        yield from _registration(oracle, f"cut after {size} bytes", pack(inflated[:size]))
    for name, place in (("version", 0), ("topic", version + 4)):
        for number in (-1, -(1 << 31), 1 << 20):
            yield from _registration(oracle, f"{name} of length {number}", word(place, number))
    for number in (2, 1 << 20):
        yield from _registration(oracle, f"{number} topics", word(version, number))
    broken = inflated.replace(b"{", b"[", 1)
    yield from _registration(oracle, "version is no object", pack(broken))
    broken = inflated.replace(b"SINGLE_TAG", b"DOUBLE_TAG")
    yield from _registration(oracle, "topic of an unknown filter type", pack(broken))
    broken = inflated.replace(b"T 16 16", b"T xx 16")
    yield from _registration(oracle, "topic without numbers", pack(broken))
    for text in ("{", '{"topicConfigSerializeWrapper":[1]}', '{"topicConfigSerializeWrapper":{"topicConfigTable":{"a":1}}}'):  # fmt: skip
        yield from _registration(oracle, text, text.encode(), packed=False)


def _registration(
    oracle: Oracle, title: str, data: bytes, *, packed: bool = True
) -> Iterator[Line]:
    answer = oracle.ask("register_decode", hex=data.hex(), compressed=packed, version=513)
    line: Line = {"id": title, "hex": data.hex(), "compressed": packed, "version": 513}
    yield _refuse(line, [answer])


def _topics(oracle: Oracle) -> Iterator[Line]:
    for text in TOPICS:
        answer = oracle.ask("topic_decode", text=text)
        if answer["ok"] and not answer["accepted"]:
            answer = {"ok": False, "error": "false"}
        yield _refuse({"id": text, "text": text}, [answer])


def _store(oracle: Oracle) -> Iterator[Line]:
    data = stored.encode(oracle)
    for title, changed in _break_messages(data):
        answer = oracle.ask("msg_decode", hex=changed.hex(), mode="one")
        if answer["ok"] and answer["messages"] == [None]:
            answer = {"ok": False, "error": "null"}
        yield _refuse({"id": title, "hex": changed.hex()}, [answer])


def _break_messages(data: bytes) -> Iterator[tuple[str, bytes]]:
    for size in (1, 3, 4, 7, 8, 20, 40, 50, 84, 87, 88, 90, 92, 93, len(data) - 6, len(data) - 1):
        yield f"cut after {size} bytes", data[:size]
    for title, magic in (
        ("zero", 0),
        ("of a blank", 0xCBD43194),
        ("of the old layout", 0xAABBCCDD),
    ):
        yield f"magic {title}", data[:4] + magic.to_bytes(4, "big") + data[8:]
    yield "body of 1 MiB", data[:84] + b"\0\x10\0\0" + data[88:]
    place = 88 + int.from_bytes(data[84:88], "big")
    yield "topic longer than the message", data[:place] + b"\x7f" + data[place + 1 :]
    end = place + 1 + data[place]
    yield "properties longer than the message", data[:end] + b"\x7f\xff" + data[end + 2 :]
    for title, flag in (("LZ4", 0x101), ("ZSTD", 0x201), ("ZLIB", 0x301), ("no type", 1), ("an unknown type", 0x401)):  # fmt: skip
        changed = data[:36] + flag.to_bytes(4, "big") + data[40:]
        yield f"body that is not compressed, by {title}", changed
    yield "port beyond 65535", data[:52] + b"\0\1\0\0" + data[56:]
    yield "negative port", data[:52] + b"\xff\xff\xff\xff" + data[56:]


def _batches(oracle: Oracle) -> Iterator[Line]:
    message = {"topic": "T", "flag": 1, "body": b"body".hex(), "properties": {"k": "v"}}
    sample = oracle.find("batch_encode", messages=[message])["hex"]
    data = bytes.fromhex(sample)
    cases = {f"cut after {size} bytes": data[:size] for size in (1, 3, 4, 12, 19, 22, 25)}
    cases["body of negative length"] = data[:16] + b"\xff\xff\xff\xff" + data[20:]
    cases["body of 1 MiB"] = data[:16] + b"\0\x10\0\0" + data[20:]
    cases["properties longer than the message"] = data[:24] + b"\x7f\xff" + data[26:]
    for title, changed in cases.items():
        answer = oracle.ask("batch_decode", hex=changed.hex())
        yield _refuse({"id": title, "hex": changed.hex()}, [answer])


def _compress(oracle: Oracle) -> Iterator[Line]:
    body = bytes(range(256)) * 4
    for compression in stored.TYPES:
        sample = bytes.fromhex(oracle.find("compress", type=compression, hex=body.hex())["hex"])
        cases = {
            "other bytes": b"not compressed",
            "head alone": sample[:4],
            "half": sample[: len(sample) // 2],
        }
        for title, data in cases.items():
            answer = oracle.ask("decompress", type=compression, hex=data.hex())
            line: Line = {"id": f"{compression} {title}", "type": compression, "hex": data.hex()}
            yield _refuse(line, [answer])


def _ids(oracle: Oracle) -> Iterator[Line]:
    for text in MESSAGE_IDS:
        yield _refuse({"id": text, "text": text}, [oracle.ask("msgid_decode", msgid=text)])
