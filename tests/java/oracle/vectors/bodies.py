"""JSON bodies of every class as each release writes them, and bodies that no Java program writes."""

import time
from collections.abc import Iterator, Sequence
from typing import cast

from tests.fuzz.bodies import body_classes
from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import (
    NEWEST,
    OLDER,
    Javas,
    Line,
    Sheet,
    document,
    with_refusal,
)
from tests.peers.oracle import Answer, Oracle

LEVELS = ((1, "ordinary"), (2, "nasty"), (0, "defaults"), (3, "nulls"))
"""Levels of the oracle's random values."""

SEEDS = 12
LARGEST = 700
"""Bytes of a random body; the largest below is taken."""

ROUNDS = 3
TICK = 0.002
"""Readings of each body, and seconds between them; what differs then depends on a clock."""

OTHERWISE = "5.5.0 has members that 5.3.3 lacks, or reads a value otherwise"
HAND_MADE = "not as Java writes it"

ODD: tuple[tuple[str, str, str], ...] = (
    ("bare integer keys", "BrokerData", '{"brokerAddrs":{0:"a",-1:"b",9223372036854775807:"c"}}'),
    ("quoted integer keys", "BrokerData", '{"brokerAddrs":{"0":"a","-1":"b"}}'),
    ("blanks around integer keys", "BrokerData", '{"brokerAddrs":{ 0 : "a" , 1 : "b" }}'),
    ("integer keys of another order", "BrokerData", '{"brokerAddrs":{2:"a",0:"b",1:"c"}}'),
    ("object keys", "ConsumeStats", '{"offsetTable":{{"topic":"a","brokerName":"b","queueId":1}:{"brokerOffset":7},{"topic":"c","brokerName":"b","queueId":0}:{"consumerOffset":8}}}'),
    ("object keys with blanks", "ConsumeStats", '{"offsetTable": { {"topic" : "a"} : {"brokerOffset":7} } }'),
    ("quoted object keys", "TopicStatsTable", '{"offsetTable":{"{\\"brokerName\\":\\"b\\",\\"queueId\\":1,\\"topic\\":\\"a\\"}":{"maxOffset":7}}}'),
    ("reference to a member", "TopicRouteData", '{"brokerDatas":[{"brokerName":"a","cluster":"c"},{"$ref":"$.brokerDatas[0]"}]}'),
    ("reference to a sibling", "TopicRouteData", '{"queueDatas":[{"brokerName":"a","perm":6},{"$ref":"$.queueDatas[0]"},{"brokerName":"b"}]}'),
    ("single quotes", "KVTable", "{'table':{'a':'it is \"so\"'}}"),
    ("bare names", "TopicList", '{brokerAddr:"a"}'),
    ("comma before the end", "TopicList", '{"topicList":["a","b",],"brokerAddr":"x",}'),
    ("not a number", "ConsumeStats", '{"consumeTps":NaN}'),
    ("whole for a double", "ConsumeStats", '{"consumeTps":7}'),
    ("text for a double", "ConsumeStats", '{"consumeTps":"1.5"}'),
    ("exponent for a double", "ConsumeStats", '{"consumeTps":1.5E-7}'),
    ("smallest double", "ConsumeStats", '{"consumeTps":4.9E-324}'),
    ("text for a whole", "QueueData", '{"perm":"6","readQueueNums":"-1"}'),
    ("empty text for a whole", "QueueData", '{"perm":"","readQueueNums":4}'),
    ("zero fraction for a whole", "QueueData", '{"perm":6.0}'),
    ("null for a whole", "QueueData", '{"perm":null,"brokerName":null}'),
    ("true for a whole", "QueueData", '{"perm":true}'),
    ("whole for a text", "QueueData", '{"brokerName":7}'),
    ("whole for a boolean", "BrokerData", '{"enableActingMaster":1}'),
    ("text for a boolean", "BrokerData", '{"enableActingMaster":"true"}'),
    ("null for a boolean", "BrokerData", '{"enableActingMaster":null}'),
    ("largest int64", "OffsetWrapper", '{"brokerOffset":9223372036854775807,"consumerOffset":-9223372036854775808}'),
    ("beyond exact doubles", "OffsetWrapper", '{"brokerOffset":9007199254740993}'),
    ("repeated member", "QueueData", '{"perm":1,"perm":2}'),
    ("repeated key", "KVTable", '{"table":{"a":"1","b":"2","a":"3"}}'),
    ("unknown members", "QueueData", '{"x":[1,{"y":null}],"perm":2,"z":"w"}'),
    ("null for an object", "TopicRouteData", '{"queueDatas":null,"brokerDatas":null,"orderTopicConf":null}'),
    ("empty object", "TopicRouteData", "{}"),
    ("null document", "TopicRouteData", "null"),
    ("white space", "QueueData", ' \n{\t"perm"\r: 2 }\n'),
    ("raw controls", "QueueData", '{"brokerName":"a\x01\tb\nc"}'),
    ("escapes", "QueueData", '{"brokerName":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u4e3b\\ud83d\\ude80"}'),
    ("lone surrogate", "QueueData", '{"brokerName":"a\\ud83db"}'),
    ("escaped names", "QueueData", '{"\\u0070erm":2}'),
    ("raw separators", "QueueData", '{"brokerName":"\u2028\u2029\x85\x7f\ufeff"}'),
    ("unlisted type", "QueueData", '{"@type":"java.lang.Object","perm":2}'),
    ("enum by number", "Connection", '{"language":3}'),
    ("set with repetition", "LockBatchRequestBody", '{"mqSet":[{"topic":"a","brokerName":"b","queueId":1},{"topic":"a","brokerName":"b","queueId":1}]}'),
    ("lists within lists", "ProducerTableInfo", '{"data":{"a":[],"b":[{"clientId":"c"}]}}'),
    ("byte order mark", "QueueData", '\ufeff{"perm":2}'),
    ("comments", "QueueData", '/*a*/{/*b*/"perm":2/*c*/,//d\n"readQueueNums":3}'),
)  # fmt: skip
"""Title, class, text: what fastjson takes besides JSON, and values of other types than the member's."""


def sheets(java: Javas) -> Iterator[Sheet]:
    how = "RemotingSerializable.encode and decode"
    for release, oracle in ((NEWEST, java.newest), (OLDER, java.older)):
        classes = _random(oracle, LEVELS if release == NEWEST else LEVELS[:2])
        for name, lines in (("classes", classes), ("texts", _texts(oracle))):
            read = [line if release == NEWEST else _reread(java, line) for line in lines]
            yield Sheet(f"vectors/bodies/{name}-{release}.jsonl", how, read, release)
    how = "by hand; RemotingSerializable.decode reads them"
    newest = list(_odd(java.newest))
    yield Sheet("vectors/bodies/odd-5.5.0.jsonl", how, newest)
    newest_ids = {line["id"] for line in newest}
    older = [line for line in _odd(java.older) if line["id"] not in newest_ids]
    yield Sheet("vectors/bodies/odd-5.3.3.jsonl", f"{how}, and 5.5.0 does not", older, OLDER)


def _reread(java: Javas, line: Line) -> Line:
    question = {"class": line["class"], "text": line["text"]}
    first = java.newest.ask("body_decode", **question)
    time.sleep(TICK / 5)
    if first["ok"] and first == java.newest.ask("body_decode", **question):
        is_same = first["value"] == line["value"]
        return {**line, "value": first["value"], "reencodes": True if is_same else OTHERWISE}
    return {**line, "read_by": OLDER}


def _random(oracle: Oracle, levels: Sequence[tuple[int, str]]) -> Iterator[Line]:
    for name in body_classes():
        for level, title in levels:
            requests = [
                {"op": "body_random", "class": name, "seed": seed, "level": level}
                for seed in range(SEEDS if level else 1)
            ]
            first, *later_rounds = (_after_a_tick(oracle, requests) for _ in range(ROUNDS))
            good = [
                first_answer
                for first_answer, *later_answers in zip(first, *later_rounds, strict=True)
                if all(first_answer == later_answer for later_answer in later_answers)
                and _comes_back(first_answer)
            ]
            if good:
                yield _line(f"{name}/{title}", name, min(good, key=_distance))


def _after_a_tick(oracle: Oracle, requests: Sequence[Line]) -> list[Answer]:
    time.sleep(TICK)
    return list(oracle.ask_all(requests))


def _distance(body: Answer) -> tuple[bool, int]:
    spare = 2 * LARGEST - len(body["hex"])
    return spare < 0, abs(spare)


def _comes_back(body: Answer) -> bool:
    # Whether Java reads the value that it wrote; nulls among the items of a list are ignored.
    text = bytes.fromhex(body["hex"]) if body["ok"] else b""
    if not body["ok"] or b"[null" in text or b",null" in text:
        return False
    return body.get("decoded") == body["value"] and _has_an_order(body["value"])


def _has_an_order(value: object) -> bool:
    # Whether no set holds two objects: most classes leave their order to where the objects lie in memory.
    if isinstance(value, dict):
        members = cast("Line", value)
        items = members.get("@set", ())
        objects = sum(isinstance(item, dict) for item in items)
        return objects < 2 and all(map(_has_an_order, members.values()))
    if isinstance(value, list):
        return all(map(_has_an_order, cast("list[object]", value)))
    return True


def _line(title: str, name: str, body: Answer) -> Line:
    text = document(bytes.fromhex(body["hex"]))
    return {"id": title, "class": name, **text, "value": body["decoded"], "reencodes": True}


def _texts(oracle: Oracle) -> Iterator[Line]:
    for title, text in nasty.TEXTS.items():
        yield from _build(oracle, title, "KVTable", {"table": {"a": text, text: "b"}})
    for number in nasty.INT64:
        addresses = {"@map": [[number, "a"], [0, "b"]]}
        members = {"brokerAddrs": addresses, "brokerName": "n"}
        yield from _build(oracle, f"key {number}", "BrokerData", members)


def _build(oracle: Oracle, title: str, name: str, value: object) -> Iterator[Line]:
    body = oracle.find("body_build", **{"class": name, "value": value})
    read = oracle.ask("body_decode", **{"class": name, "hex": body["hex"]})
    if read["ok"] and read["value"] == body["value"]:
        yield _line(title, name, {**body, "decoded": read["value"]})


def _odd(oracle: Oracle) -> Iterator[Line]:
    for title, name, text in ODD:
        requests = {"class": name, "text": text}
        first = oracle.ask("body_decode", **requests)
        if first["ok"]:
            data = document(text.encode())
            yield with_refusal(
                {
                    "id": title,
                    "class": name,
                    **data,
                    "value": first["value"],
                    "reencodes": HAND_MADE,
                }
            )
