"""Bodies of broker registrations in every form, and the text form of a topic."""

from collections.abc import Iterator

from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import Javas, Line, Sheet
from tests.peers.oracle import Answer, Oracle

VERSIONS = (513, 413, 412, 37)
"""On both sides of V5_0_0, from which on mappings follow, and the first with this body."""

OLD = 36
"""The last version whose registration is nothing but topics."""

DERIVED = "an item of the topic is not as Java writes it"
INCOMPLETE = "Java reads null as the default, and of two topics of one name the last"
LOSSY = "the mappings are not read at this version"
ODD_TOPICS = (
    "a 1 2 6 SINGLE_TAG", "a 1 2 6 MULTI_TAG {}", "a 1 2 6 SINGLE_TAG null", 'a 1 2 6 SINGLE_TAG {"+message.type":"FIFO"}',
    "a +1 02 6 SINGLE_TAG {}", "a 1 2 6 SINGLE_TAG {} more", "a 1 2 6 SINGLE_TAG {", "a 1 2 6 SINGLE_TAG  ", " 1 2 6 SINGLE_TAG {}",
    "null 1 2 6 SINGLE_TAG {}", "a -2147483648 2147483647 -1 SINGLE_TAG {}", 'a 1 2 6 SINGLE_TAG {"a":"b c"}',
    "a \u0661 2 6 SINGLE_TAG {}", 'a 1 2 6 SINGLE_TAG {"a":1,"b":null}', "a\tb 1 2 6 SINGLE_TAG {}",
)  # fmt: skip


def sheets(java: Javas) -> Iterator[Sheet]:
    # Registrations as JSON, packed, of old brokers; topics as text.
    oracle = java.newest
    how = "RegisterBrokerBody.encode and decode"
    yield Sheet("vectors/registrations/json.jsonl", how, list(_bodies(oracle, packed=False)))
    yield Sheet("vectors/registrations/packed.jsonl", how, list(_bodies(oracle, packed=True)))
    how = "TopicConfigSerializeWrapper: encode and decode"
    yield Sheet("vectors/registrations/before-37.jsonl", how, list(_old(oracle)))
    how = "TopicConfig.encode and decode"
    yield Sheet("vectors/registrations/topics.jsonl", how, list(_topics(oracle)))


def topic(name: str, **members: object) -> dict[str, object]:
    return {"topicName": name, "attributes": {}, **members}


def wrapper(**members: object) -> dict[str, object]:
    version = {"counter": 1, "stateVersion": 2, "timestamp": 1_700_000_000_000}
    empty: dict[str, object] = {"topicConfigTable": {}, "topicQueueMappingDetailMap": {}}
    versions = {"dataVersion": version, "mappingDataVersion": version}
    return {**versions, **empty, "topicQueueMappingInfoMap": {}, **members}


def _values() -> Iterator[tuple[str, dict[str, object]]]:
    yield "no topics", {"filterServerList": [], "topicConfigSerializeWrapper": wrapper()}
    yield "no topics, no list", {"topicConfigSerializeWrapper": wrapper(), "filterServerList": None}
    names = ["", "10.0.0.1:1", '"quoted"', "\u4e3b\U0001f680", "\0\x85\u2028"]
    yield ("filter servers", {"filterServerList": names, "topicConfigSerializeWrapper": wrapper()})
    for title, name in nasty.TEXTS.items():
        if name and " " not in name:
            table = {name: topic(name)}
            yield f"topic {title}", _of(topicConfigTable=table)
    for number in (0, 1, -1, 0x7FFFFFFF, -0x80000000):
        numbers = {"readQueueNums": number, "writeQueueNums": number, "perm": number}
        yield f"numbers {number}", _of(topicConfigTable={"T": topic("T", **numbers)})
    numbers = {"counter": -(1 << 63), "stateVersion": (1 << 63) - 1, "timestamp": -1}
    yield "extreme version", _of(dataVersion=numbers)
    attributes = {"+message.type": "FIFO", "a": "", "": "b", "\u4e3b\U0001f680": '"\\\n\x85'}
    yield "attributes", _of(topicConfigTable={"T": topic("T", attributes=attributes)})
    fifty = {f"T{i}": topic(f"T{i}", topicFilterType="MULTI_TAG") for i in range(50)}
    yield "many topics", _of(topicConfigTable=fifty)
    info = {"bname": "b", "dirty": True, "epoch": -1, "scope": "s", "totalQueues": 8}
    infos = {
        f"S{i}": {
            **info,
            "topic": f"S{i}",
            "currIdMap": {"@map": [[-1, 2147483647], [0, -2147483648]]},
        }
        for i in range(3)
    }
    yield "mappings", _of(topicQueueMappingInfoMap=infos, topicConfigTable={"S0": topic("S0")})
    named = {"\u4e3b": {**info, "topic": "\u4e3b", "bname": "\u2028\"'\0", "scope": None}}
    yield "mapping of nasty names", _of(topicQueueMappingInfoMap=named)


def _of(**members: object) -> dict[str, object]:
    return {"filterServerList": [], "topicConfigSerializeWrapper": wrapper(**members)}


def _bodies(oracle: Oracle, *, packed: bool) -> Iterator[Line]:
    for title, value in _values():
        sample = oracle.find("register_encode", value=value, compressed=packed)
        yield from _read(oracle, title, sample, packed=packed)
    for seed in range(12):
        level = 1 + seed % 2
        sample = oracle.find("register_random", seed=seed, level=level, compressed=packed)
        if len(sample["hex"]) < 3000:
            yield from _read(oracle, f"random {seed}", sample, packed=packed)


def _size(sample: Answer) -> int:
    # Size before compression; Java's maps have an order of their own.
    return len(sample.get("plain") or sample["hex"])


def _read(oracle: Oracle, title: str, sample: Answer, *, packed: bool) -> Iterator[Line]:
    # The result of each version, unless Java cannot read its own text.
    shown = None
    data = sample["hex"]
    for version in VERSIONS if packed else VERSIONS[:1]:
        answer = oracle.ask("register_decode", hex=data, compressed=packed, version=version)
        if not answer["ok"]:
            continue
        if packed:  # it is not in the bytes: Java takes its clock
            del answer["value"]["topicConfigSerializeWrapper"]["mappingDataVersion"]["timestamp"]
        if answer["value"] == shown:
            continue
        encoded = oracle.find("register_encode", value=answer["value"], compressed=packed)
        kept = True if _size(encoded) == _size(sample) else INCOMPLETE
        reencodes = LOSSY if shown else kept
        shown = answer["value"]
        line: Line = {"id": f"{title}, version {version}", "hex": data, "version": version}
        yield {**line, "value": shown, "reencodes": reencodes}


def _old(oracle: Oracle) -> Iterator[Line]:
    name = "TopicConfigSerializeWrapper"
    for title, value in _values():
        inner = value["topicConfigSerializeWrapper"]
        sample = oracle.find("body_build", **{"class": name, "value": inner})
        read = oracle.ask("body_decode", **{"class": name, "hex": sample["hex"]})
        if read["ok"] and "mapping" not in title and "filter" not in title and "list" not in title:
            line: Line = {"id": title, "hex": sample["hex"], "version": OLD}
            yield {**line, "value": read["value"], "reencodes": True}


def _topics(oracle: Oracle) -> Iterator[Line]:
    values: list[tuple[str, dict[str, object]]] = [
        (title, topic(text)) for title, text in nasty.TEXTS.items()
    ]
    for title, text in nasty.TEXTS.items():
        values.append((f"attributes {title}", topic("T", attributes={"a": text, text: "b"})))
    values.append(("no name", {"attributes": {}}))
    values.append(("no attributes", topic("T", attributes=None)))
    for title, value in values:
        text = oracle.find("topic_encode", value=value)["text"]
        yield from _topic(oracle, title, text, reencodes=True)
    for text in ODD_TOPICS:
        yield from _topic(oracle, f"odd {text}", text, reencodes=DERIVED)


def _topic(oracle: Oracle, title: str, text: str, *, reencodes: bool | str) -> Iterator[Line]:
    answer = oracle.ask("topic_decode", text=text)
    if answer["ok"] and answer["accepted"]:
        encoded = oracle.find("topic_encode", value=answer["value"])["text"]
        kept = reencodes if encoded == text else DERIVED
        yield {"id": title, "text": text, "value": answer["value"], "reencodes": kept}
