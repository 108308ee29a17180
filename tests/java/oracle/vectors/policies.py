"""Decisions of Java's client: queues, shares, names, expressions; ``tests/peers/sources/Policies.java`` asks its classes."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any, cast

from tests.java.oracle.vectors import nasty
from tests.java.oracle.vectors.sheet import NEWEST, Javas, Line, Sheet
from tests.peers import cache as java_cache
from tests.peers import peers as java_peers

Case = dict[str, Any]

BROKERS = ("broker-a", "broker-b", "Broker-c", "b10", "b9", "ü-1")
CLIENTS = (
    "10.0.0.1@1#1", "10.0.0.10@1#1", "10.0.0.1@10#1", "10.0.0.1@9#1", "10.0.0.1@DEFAULT", "10.0.0.1@a", "10.0.0.1@\U0001f680",
    "10.0.0.1@\uff5e", "hz-1", "sh-1",
)  # fmt: skip
STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
NAMES = (
    "", " ", "\t", "a", "T", "TopicTest", "a b", "a%b", "a|b", "a_b-c9", "ü", "a.b", "a/b", "%RETRY%g", "%DLQ%g", "%RETRY%ns%g", "%DLQ%ns%g",
    "ns%T", "ns%", "%T", "ns%a%b", "other%T", "%RETRY%other%g", "%RETRY%", "%RETRY%CID_RMQ_SYS_x", "TBW102", "SCHEDULE_TOPIC_XXXX", "BenchmarkTest",
    "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC",
    "RMQ_SYS_TRACE_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT", "CHECKPOINT_TOPIC", "rmq_sys_x", "RMQ_SYS_x",
    "CID_RMQ_SYS_x", "CID_ONSAPI_OWNER", "DEFAULT_PRODUCER", "DefaultCluster_REPLY_TOPIC", "x" * 120, "x" * 121, "x" * 127, "x" * 128,
    "%RETRY%" + "x" * 120, "%RETRY%" + "x" * 121, "%RETRY%" + "x" * 248, "%RETRY%" + "x" * 249, "%DLQ%" + "x" * 250, "%DLQ%" + "x" * 251,
    "TAGS", "WAIT", "UNIQ_KEY", "__CRC32#", "_SYS_MSG_PRIORITY_", "INNER_NUM", "__SHARDINGKEY",
)  # fmt: skip
EXPRESSIONS = (
    None, "", "*", " * ", "TagA", "TagA||TagB", "TagA || TagB ", "  a", "||", "|| ", "||||", "a||||b", "a|| ||b", "a||a", "AaAa || BBBB", "a|b", "a|||b",
    "中文 || \U0001f680", "\u3000a || \x1fb", "a||*",
)  # fmt: skip


def answers(cases: list[Case]) -> list[Any]:
    # Java's result for each: its value, or None with the name of its exception.
    classes = java_cache.classes(NEWEST, "Policies.java")
    command = ["java", "-cp", f"{java_cache.jars(NEWEST)}/*:{classes}", *java_peers.SHORT_LIVED]
    with tempfile.TemporaryDirectory(prefix="policies-") as scratch:
        command += [f"-Duser.home={scratch}", "-Drocketmq.client.logUseSlf4j=true", "Policies"]
        ended = subprocess.run(
            command, input=json.dumps(cases).encode(), capture_output=True, check=True
        )
    return cast("list[Any]", json.loads(ended.stdout.splitlines()[-1]))


def sheets(_: Javas) -> Iterator[Sheet]:
    families = {
        "allocation": (
            "AllocateMessageQueueStrategy.allocate and Collections.sort",
            _allocations(),
        ),
        "routing": ("MQClientInstance.topicRouteData2TopicPublishInfo", _routes()),
        "selection": ("MQFaultStrategy.selectOneMessageQueue", _rotations()),
        "selectors": ("SelectMessageQueueByHash and java.util.Random", _selectors()),
        "subscription": ("FilterAPI.build", _subscriptions()),
        "names": ("NamespaceUtil, Validators and TopicValidator", _names()),
        "window": ("ProcessQueue", _windows()),
        "constants": ("MessageConst and DefaultMQProducer", _constants()),
    }
    cases = {name: list(those) for name, (_how, those) in families.items()}
    replies = iter(answers([case for group in cases.values() for case in group]))
    for name, (how, _cases) in families.items():
        lines: list[Line] = []
        for number, case in enumerate(cases[name]):
            answer = next(replies)
            lines.append({"id": f"{case['op']} {number}", **case, **_outcome(answer)})
        yield Sheet(f"vectors/policy/{name}.jsonl", how, lines)


def _outcome(answer: Case) -> Line:
    return {"refused": answer["error"]} if "error" in answer else {"value": answer["value"][0]}


def _queues(*brokers: tuple[str, int], topic: str = "T") -> list[list[object]]:
    return [[topic, broker, number] for broker, count in brokers for number in range(count)]


def _allocate(
    strategy: str, cid: str, cids: list[str], queues: list[list[object]], **options: object
) -> Case:
    ends = {"cid": cid, "cids": cids, "queues": queues}
    return {"op": "allocate", "strategy": strategy, **options, **ends}


def _allocations() -> Iterator[Case]:
    for members in range(1, 7):
        cids = [f"127.0.0.1@c{index}" for index in range(members)]
        for count in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17):
            queues = _queues(("broker-a", count))
            for strategy in STRATEGIES:
                yield from (_allocate(strategy, cid, cids, queues) for cid in cids)
    yield from _odd_allocations()
    yield from _room_allocations()
    every = [[topic, broker, number] for topic in ("T", "t", "S") for broker in BROKERS for number in (2, 10, 0)]  # fmt: skip
    yield {"op": "sort", "cids": list(CLIENTS), "queues": every}
    yield {"op": "sort", "cids": [*nasty.TEXTS.values()], "queues": []}


def _odd_allocations() -> Iterator[Case]:
    queues = _queues(("broker-a", 4), ("ü-1", 3), topic="中文")
    configured = [["T", "broker-z", 7]]
    for strategy in (*STRATEGIES, "CONFIG", "MACHINE_ROOM"):
        case: Case = {
            "op": "allocate",
            "strategy": strategy,
            "configured": configured,
            "rooms": ["hz"],
            "queues": queues,
        }
        for changes in (
            {"cid": "c", "cids": ["a", "b"]},
            {"cid": "", "cids": ["a", "b"]},
            {"cid": "a", "cids": []},
            {"cid": "a", "cids": ["a"], "queues": []},
            {"cid": "a", "cids": ["a", "a", "b"]},
            {"cid": "b", "cids": ["a", "a", "b", "a"]},
            {"cid": "\U0001f680", "cids": ["\U0001f680", "ü"]},
        ):
            yield {**case, **changes}
    for nodes in (0, 1, 2, 100, -1):
        for cid in ("a", "b"):
            yield _allocate("CONSISTENT_HASH", cid, ["a", "b"], queues, nodes=nodes)


def _room_allocations() -> Iterator[Case]:
    names = ("hz@a", "hz@b@", "sh@a", "hz", "@a", "a@", "hz@a@b", "@", "@@", "hz@@a")
    queues = _queues(*((name, 2) for name in names))
    for rooms in (["hz"], ["hz", "sh"], ["", "hz"], ["x"]):
        for cid in ("a", "b", "c"):
            yield _allocate("MACHINE_ROOM", cid, ["a", "b", "c"], queues, rooms=rooms)
    near = _queues(("hz-a", 5), ("sh-a", 4), ("bj-a", 3), ("\uff5e-a", 3), ("\U0001f680-a", 3))
    cids = ["hz-1", "hz-2", "sh-1", "xx-1"]
    for inner in STRATEGIES:
        yield {"op": "name", "strategy": "NEAR", "inner": inner}
        for cid in (*cids, "hz-3"):
            yield _allocate("NEAR", cid, cids, near, inner=inner)
    for bad in (["-1", "hz-1"], ["hz-1", "-"]):
        yield _allocate("NEAR", "hz-1", bad, near, inner="AVG")
    yield _allocate("NEAR", "hz-1", ["hz-1"], _queues(("-a", 1)), inner="AVG")


def _broker(name: str, *ids: int) -> Case:
    addresses = {str(number): f"10.0.0.{number}:10911" for number in ids}
    return {"brokerName": name, "cluster": "c", "brokerAddrs": addresses}


def _data(name: str, read: int, write: int, perm: int = 6) -> Case:
    queues = {"readQueueNums": read, "writeQueueNums": write}
    return {"brokerName": name, **queues, "perm": perm, "topicSysFlag": 0}


def _mapping(
    bname: str, ids: dict[int, int], total: int, epoch: int, scope: str | None = "__global__"
) -> Case:
    place = {"scope": scope, "topic": "T", "dirty": False}
    return {"bname": bname, "currIdMap": ids, "totalQueues": total, "epoch": epoch, **place}


def _routes() -> Iterator[Case]:
    brokers = [_broker("b", 0, 1), _broker("a", 0), _broker("s", 1, 2), _broker("a", 3)]
    datas = [
        _data("b", 2, 3),
        _data("a", 4, 1),
        _data("s", 2, 2),
        _data("gone", 1, 1),
        _data("a", 2, 2),
    ]
    simple: Case = {"brokerDatas": brokers, "queueDatas": datas, "filterServerTable": {}}
    routes: list[Case] = [simple, {"brokerDatas": [], "queueDatas": [], "filterServerTable": {}}]
    routes += [{**simple, "queueDatas": [_data("a", 2, 2, perm)]} for perm in range(16)]
    routes += [{**simple, "queueDatas": [_data(name, 1, 1) for name in reversed(BROKERS)], "brokerDatas": [_broker(name, 0) for name in BROKERS]}]  # fmt: skip
    routes += [{**simple, "orderTopicConf": text} for text in ("", "b:2;a:1", "b:2;", "b:0", "b:-1;a:1", "b:+1", "b", "b:", "b:x", ";b:1", "b:1:7", ":2", ";", "a:1;a:2", "b: 1", "b:99999999999")]  # fmt: skip
    static = {
        "a": _mapping("a", {0: 0, 1: 1, 2: 2}, 4, 10),
        "b": _mapping("b", {1: 0, 2: 1}, 6, 11),
        "c": _mapping("c", {5: 0}, 2, 9, "zone"),
        "d": _mapping("d", {0: 0}, 1, 1, None),
    }
    routes += [
        {**simple, "topicQueueMappingByBroker": static},
        {**simple, "topicQueueMappingByBroker": {}},
    ]
    routes += [
        {**simple, "topicQueueMappingByBroker": static, "orderTopicConf": text}
        for text in ("", "b:1")
    ]
    routes += [
        {**simple, "topicQueueMappingByBroker": {"a": _mapping("a", {0: 0}, 3, -2), "b": _mapping("b", {}, 2, -1)}}
    ]  # fmt: skip
    for route in routes:
        text = json.dumps(route)
        for op in ("publish", "subscribe", "static"):
            yield {"op": op, "topic": "T", "route": text}


def _rotate(
    queues: list[list[object]], start: int, last: list[str | None],
    unavailable: list[str], unreachable: list[str], *, enabled: bool,
) -> Case:  # fmt: skip
    faults = {"unavailable": unavailable, "unreachable": unreachable}
    turns = {"enabled": enabled, "start": start, "last": last}
    return {"op": "rotate", "queues": queues, **turns, **faults}


def _rotations() -> Iterator[Case]:
    queues = _queues(("a", 2), ("b", 2), ("c", 1))
    lasts: list[list[str | None]] = [
        [None] * 7,
        ["a"] * 6,
        [None, "b", None, "a", "c"],
        ["x", None],
    ]
    faults: list[tuple[list[str], list[str]]] = [
        ([], []),
        (["a"], []),
        (["a", "b", "c"], []),
        (["a", "b"], ["a"]),
        (["a", "b", "c"], ["a", "b"]),
        (["a", "b", "c"], ["a", "b", "c"]),
    ]
    starts = (-1, 0, 3, 0x7FFFFFFD, -(2**31))
    chance = Random(7)
    for enabled in (False, True):
        for start in (*starts, chance.randrange(2**31)):
            for last, fault in product(lasts, faults):
                yield _rotate(queues, start, last, *fault, enabled=enabled)
    yield _rotate(_queues(("a", 2)), 0, ["a", "a", None], [], [], enabled=True)
    latencies = [0, 1, 49, 50, 51, 99, 100, 549, 550, 1799, 1800, 2999, 3000, 4999, 5000, 14999, 15000, 10**9]  # fmt: skip
    yield {"op": "durations", "latencies": latencies, "isolate": False}
    yield {"op": "durations", "latencies": latencies, "isolate": True}


def _selectors() -> Iterator[Case]:
    texts = ["", "order-1", "order-2", "uid:42", "polygenelubricants", *nasty.TEXTS.values()]
    keys = [("string", text) for text in dict.fromkeys(texts)]
    keys += [
        ("int", str(number)) for number in (0, 1, -1, 7, -7, 2**31 - 1, -(2**31), -(2**31) + 1)
    ]
    keys += [("long", str(number)) for number in (2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 10**12)]
    keys += [("double", text) for text in ("0.0", "-0.0", "1.5", "-1.5", "1e300", "5e-324")]
    keys += [("boolean", text) for text in ("true", "false")]
    for syntax, text in keys:
        yield {"op": "hash_code", "type": syntax, "text": text}
        for count in (1, 3, 4, 8):
            yield {"op": "by_hash", "type": syntax, "text": text, "queues": _queues(("a", count))}
    for seed in (0, 1, -1, 42, 1_700_000_000_000):
        yield {
            "op": "random",
            "seed": seed,
            "bounds": [1, 2, 3, 4, 7, 8, 100, 2**30 + 1, 2**31 - 1] * 4,
        }
    yield {"op": "random", "seed": 1, "bounds": [0]}


def _subscriptions() -> Iterator[Case]:
    for syntax in (None, "TAG", "SQL92", "OTHER"):
        for text in EXPRESSIONS:
            yield {"op": "subscription", "text": text, "type": syntax}


def _names() -> Iterator[Case]:
    for name in NAMES:
        yield {"op": "validate", "text": name}
        for namespace in (None, "", "ns", "MQ_INST_1_a"):
            yield {"op": "namespace", "namespace": namespace, "text": name}


def _windows() -> Iterator[Case]:
    chance = Random(20)
    for _ in range(40):
        steps: list[list[object]] = []
        next_offset = chance.choice((0, 5, 100))
        waiting: list[int] = []
        for _ in range(chance.randrange(3, 25)):
            what = chance.choice(("put", "put", "remove", "remove", "remove", "odd", "clear"))
            if what == "put":
                gap = chance.choice((0, 0, 0, 3))
                count = chance.randrange(4)
                offsets = list(range(next_offset + gap, next_offset + gap + count))
                next_offset += gap + count
                waiting += offsets
                steps.append(["put", offsets])
            elif what == "remove":
                gone = chance.sample(waiting, min(len(waiting), chance.randrange(4)))
                waiting = [offset for offset in waiting if offset not in gone]
                steps.append(["remove", gone])
            elif what == "odd":
                offset = chance.randrange(next_offset + 1)
                steps.append([chance.choice(("put", "remove")), [offset]])
                waiting = sorted({*waiting, offset} if steps[-1][0] == "put" else {*waiting} - {offset})  # fmt: skip
            elif chance.random() < 0.2:
                steps.append(["clear", []])
                waiting = []
        yield {"op": "process_queue", "steps": steps}
    yield from _orderly_windows(chance)


def _orderly_windows(chance: Random) -> Iterator[Case]:
    for _ in range(30):
        steps: list[list[object]] = [["put", [0, 1, 2, 3]]]
        taken: list[int] = []
        waiting = [0, 1, 2, 3]
        next_offset = 4
        for _ in range(chance.randrange(3, 20)):
            what = chance.choice(("put", "take", "take", "commit", "rollback", "again"))
            if what == "put":
                steps.append(["put", [next_offset, next_offset + 1]])
                waiting += [next_offset, next_offset + 1]
                next_offset += 2
            elif what == "take":
                count = chance.randrange(1, 4)
                steps.append(["take", count])
                taken += waiting[:count]
                waiting = waiting[count:]
            elif what == "again" and taken:
                back = taken[-chance.randrange(1, 3) :]
                steps.append(["again", back])
                taken = [offset for offset in taken if offset not in back]
                waiting = sorted({*waiting, *back})
            elif what == "commit" and taken:
                steps.append(["commit", []])
                taken = []
            elif what == "rollback":
                steps.append(["rollback", []])
                waiting = sorted({*waiting, *taken})
                taken = []
        yield {"op": "process_queue", "steps": steps}


def _constants() -> Iterator[Case]:
    yield {"op": "reserved"}
    yield {"op": "retry_codes"}
