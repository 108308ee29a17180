"""Stored messages of both layouts, batches and compressed bodies."""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import Javas, Line, Sheet
from tests.peers.oracle import Oracle

MAGIC_V1, MAGIC_V2 = bytes.fromhex("daa320a7"), bytes.fromhex("daa320ab")
FOUR, SIX = "10.0.0.1|10911", "2001:db8:0:0:0:0:0:1|65535"
INNER_BATCH = 0xC0
TYPES = {"LZ4": 0x101, "ZSTD": 0x201, "ZLIB": 0x301}

COMPRESSED = "the body comes out inflated, and compressing it is another program's work"
SHORT_TOPIC_V2 = "a topic of up to 127 bytes is written in the first layout"
UNWRAPPED = "these are the messages inside"
NO_ID = "a message of an inner batch has the id of the whole; in Java it has none"
NO_PROPERTY = "a property without name or value is not read"


def sheets(java: Javas) -> Iterator[Sheet]:
    oracle = java.newest
    how = "MessageDecoder.encode and decodesBatch"
    yield Sheet("vectors/stored/messages.jsonl", how, list(_messages(oracle)))
    yield Sheet("vectors/stored/second-layout.jsonl", f"{how}; magic and topic length by hand", list(_second(oracle)))  # fmt: skip
    yield Sheet("vectors/stored/compressed.jsonl", how, list(_compress(oracle)))
    yield Sheet("vectors/stored/inner-batches.jsonl", f"{how}, decodeMessage", list(_inner(oracle)))
    how = "MessageDecoder.encodeMessages and decodeMessages"
    yield Sheet("vectors/stored/batches.jsonl", how, list(_batches(oracle)))
    how = "Compressor.compress and decompress"
    yield Sheet("vectors/stored/bodies.jsonl", how, list(_bodies(oracle)))


def value_of(**members: object) -> dict[str, object]:
    ordinary = {"topic": "TopicTest", "body": b"body".hex(), "properties": {"TAGS": "t"}}
    hosts = {"bornHost": FOUR, "storeHost": FOUR}
    times = {"bornTimestamp": 1_700_000_000_000, "storeTimestamp": 1_700_000_000_001}
    return {**ordinary, **hosts, **times, "queueId": 1, "queueOffset": 2, **members}


def encode(oracle: Oracle, *, compress: bool = False, **members: object) -> bytes:
    sample = oracle.find("msg_encode", value=value_of(**members), compress=compress)
    return bytes.fromhex(sample["hex"])


def _cases() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "ordinary", {}
    yield "no body", {"body": ""}
    yield "no properties", {"properties": None}
    yield "no property", {"properties": {}}
    for name, body in nasty.BODIES.items():
        yield f"body {name}", {"body": body.hex()}
    for name, text in nasty.TEXTS.items():
        if len(text.encode()) < 128:
            yield f"topic {name}", {"topic": text}
    for name, text in nasty.WITHOUT_PROPERTY_SEPARATORS.items():
        yield f"property {name}", {"properties": {"a": text, text: "b"}}
    yield "unique key", {"properties": {"UNIQ_KEY": "0A00000100002A139A5700000001"}}
    yield "empty unique key", {"properties": {"UNIQ_KEY": ""}}
    yield "many properties", {"properties": {f"k{i}": f"v{i}" for i in range(300)}}
    yield from _numbers()
    yield from _hosts()
    for flag in (0x4, 0x8, 0xC, 0x40, 0x80, 0x1000, 0x40000000, -0x80000000):
        yield f"sysFlag {flag}", {"sysFlag": flag}


def _numbers() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("queueId", "flag", "reconsumeTimes", "bodyCRC"):
        for number in (0x7FFFFFFF, -0x80000000, -1):
            yield f"{name} {number}", {name: number}
    wide = ("queueOffset", "commitLogOffset", "bornTimestamp", "storeTimestamp", "preparedTransactionOffset")  # fmt: skip
    for name in wide:
        for number in ((1 << 63) - 1, -(1 << 63), -1, 1 << 53):
            yield f"{name} {number}", {name: number}


def _hosts() -> Iterator[tuple[str, dict[str, Any]]]:
    for born, store in ((SIX, FOUR), (FOUR, SIX), (SIX, SIX)):
        yield f"hosts {born} {store}", {"bornHost": born, "storeHost": store}
    for host in ("0.0.0.0|0", "255.255.255.255|65535", "127.0.0.1|1"):
        yield f"hosts {host}", {"bornHost": host, "storeHost": host}
    hosts = {"bornHost": "fe80:0:0:0:1:2:3:4|9", "storeHost": "0:0:0:0:0:0:0:1|0"}
    yield "link-local and loopback", hosts


def _line(oracle: Oracle, title: str, data: bytes, reencodes: bool | str = True) -> Line:
    read = oracle.find("msg_decode", hex=data.hex())
    if read["position"] != len(data):
        raise ValueError(f"{title}: Java stopped at {read['position']}")
    line: Line = {"id": title, "hex": data.hex(), "value": read["messages"]}
    return {**line, "reencodes": reencodes}


def _keep(properties: Mapping[str, str] | None) -> bool | str:
    is_complete = properties is None or all(name and text for name, text in properties.items())
    return True if is_complete else NO_PROPERTY


def _messages(oracle: Oracle) -> Iterator[Line]:
    for title, members in _cases():
        yield _line(oracle, title, encode(oracle, **members), _keep(members.get("properties")))
    three = [encode(oracle, topic=f"T{i}", queueOffset=i) for i in range(3)]
    yield _line(oracle, "three", b"".join(three))
    yield _line(oracle, "none", b"")


def with_topic(data: bytes, topic: bytes) -> bytes:
    place = 84 + 4 + int.from_bytes(data[84:88], "big")
    tail = data[place + 1 + data[place] :]
    fields = MAGIC_V2 + data[8:place] + len(topic).to_bytes(2, "big") + topic + tail
    return (4 + len(fields)).to_bytes(4, "big") + fields


def _second(oracle: Oracle) -> Iterator[Line]:
    data = encode(oracle)
    for title, text in nasty.TEXTS.items():
        topic = text.encode()
        reencodes = True if len(topic) > 127 else SHORT_TOPIC_V2
        yield _line(oracle, title, with_topic(data, topic), reencodes)
    for size in (127, 128, 255, 256, 32767):
        reencodes = True if size > 127 else SHORT_TOPIC_V2
        yield _line(oracle, f"{size} bytes", with_topic(data, b"T" * size), reencodes)
    yield _line(oracle, "after the first layout", data + with_topic(data, b"T" * 200))


def _compress(oracle: Oracle) -> Iterator[Line]:
    for compression, flag in TYPES.items():
        for name, body in nasty.BODIES.items():
            data = encode(oracle, compress=True, sysFlag=flag, body=body.hex())
            yield _line(oracle, f"{compression} {name}", data, COMPRESSED)
        six = {"bornHost": SIX, "storeHost": SIX, "sysFlag": flag}
        yield _line(oracle, f"{compression} IPv6", encode(oracle, compress=True, **six), COMPRESSED)
    data = encode(oracle, compress=True, sysFlag=1, body=nasty.BODIES["long"].hex())
    yield _line(oracle, "no type", data, COMPRESSED)


def _batch(oracle: Oracle, messages: list[dict[str, object]]) -> bytes:
    sample = oracle.find("batch_encode", messages=messages)
    return bytes.fromhex(sample["hex"])


def _batch_cases() -> Iterator[tuple[str, list[dict[str, object]]]]:
    item: dict[str, object] = {"topic": "T", "flag": 0, "body": b"b".hex(), "properties": {}}
    yield "one", [item]
    yield "two", [item, {**item, "body": b"c".hex(), "flag": -1, "properties": {"k": "v"}}]
    yield "no body", [{**item, "body": ""}]
    yield "extreme flags", [{**item, "flag": number} for number in nasty.INT32]
    for name, text in nasty.WITHOUT_PROPERTY_SEPARATORS.items():
        yield f"property {name}", [{**item, "properties": {"a": text, text: "b"}}]
    for name, body in nasty.BODIES.items():
        yield f"body {name}", [item, {**item, "body": body.hex()}]
    yield "hundred", [{**item, "flag": i} for i in range(100)]


def _inner(oracle: Oracle) -> Iterator[Line]:
    for title, messages in _batch_cases():
        body = _batch(oracle, messages)
        for wait in (None, "false"):
            properties = {"WAIT": wait} if wait else None
            if wait and title != "two":
                continue
            data = encode(oracle, sysFlag=INNER_BATCH, body=body.hex(), properties=properties)
            yield {
                "id": f"{title} {wait or ''}".strip(),
                "hex": data.hex(),
                "value": oracle.find("msg_decode", hex=data.hex(), unwrap=True)["messages"],
                "here": ["offsetMsgId", "msgId"],
                "because": NO_ID,
                "reencodes": UNWRAPPED,
            }


def _batches(oracle: Oracle) -> Iterator[Line]:
    for title, messages in _batch_cases():
        data = _batch(oracle, messages).hex()
        read = oracle.find("batch_decode", hex=data)["messages"]
        shown = [{name: item[name] for name in ("flag", "body", "properties")} for item in read]
        kept = NO_PROPERTY if title == "property empty" else True
        yield {"id": title, "hex": data, "value": shown, "reencodes": kept}


def _bodies(oracle: Oracle) -> Iterator[Line]:
    for compression in TYPES:
        for name, body in {"empty": b"", **nasty.BODIES}.items():
            for level in (1, 5, 9) if compression != "LZ4" else (5,):
                sample = oracle.find("compress", type=compression, hex=body.hex(), level=level)[
                    "hex"
                ]
                read = oracle.find("decompress", type=compression, hex=sample)["hex"]
                line: Line = {
                    "id": f"{compression} {name} level {level}",
                    "type": compression,
                    "hex": sample,
                }
                yield {**line, "value": read, "reencodes": "the bytes are those of the compressor"}
