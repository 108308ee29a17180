"""When a difference of a body is explained."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of
from tests.fuzz.predicates.json_texts import damaged
from tests.fuzz.predicates.members import DERIVED_MEMBERS, ENUM_MEMBERS
from tests.fuzz.trials import ABSENT, Difference, differences

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


def unlisted_constant(_: Trial, found: Difference) -> bool:
    names = [name for name in found.path if isinstance(name, str)]
    return (
        found.java in (None, ABSENT)
        and isinstance(found.ours, str)
        and bool(names)
        and names[-1] in ENUM_MEMBERS
    )


def clock(_: Trial, found: Difference) -> bool:
    if found.ours not in (ABSENT, None) or not isinstance(found.java, int):
        return False
    return abs(found.java / 1000 - time.time()) < 24 * 3600


def derived(_: Trial, found: Difference) -> bool:
    if only_java(found, "expected an integer"):
        return any(f".{name}:" in found.ours.message for name in DERIVED_MEMBERS)
    if found.path and found.path[-1] == "alive":
        return found.java is False and found.ours is ABSENT
    return bool(found.path) and found.path[-1] in DERIVED_MEMBERS


def incomplete(trial: Trial, found: Difference) -> bool:
    if not only_ours(found, "NullPointerException"):
        return False
    return trial.about.split(".")[0] in (
        "EpochEntry",
        "EpochEntryCache",
        "SyncStateSet",
        "BrokerReplicasInfo",
        "QueryAssignmentResponseBody",
    )


def incomplete_epoch(_: Trial, found: Difference) -> bool:
    return found.path[-1:] == ("endOffset",) and (found.java, found.ours) == (0, (1 << 63) - 1)


def null_in_key(trial: Trial, found: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or not only_ours(found, "read field"):
        return False
    keys = re.findall(rb"[{,](\{[^{}]*\}):", trial.data)
    return any(
        any(name not in key for name in (b"brokerName", b"queueId", b"topic")) for key in keys
    )


def in_order(subscriptions: object) -> list[dict[str, Any]]:
    """Subscriptions as Java's sorted set has them: by topic and expression, of equal ones the first."""
    kept: dict[bytes, dict[str, Any]] = {}
    for one in cast("list[dict[str, Any]]", subscriptions):
        name = f"{one.get('topic', 'null')}@{one.get('subString', 'null')}"
        kept.setdefault(name.encode("utf-16-be", "surrogatepass"), one)
    return [kept[name] for name in sorted(kept)]


def unsorted_set(trial: Trial, found: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or found.path[:1] != ("subscriptionSet",):
        return False
    java, our = (side["subscriptionSet"] for side in (trial.java, trial.ours))
    if in_order(our) == our:
        return False
    return all(clock(trial, one) for one in differences(java, in_order(our)))


def lone_object(trial: Trial, found: Difference) -> bool:
    if not damaged(trial):
        return False
    if only_ours(found, ": class com.alibaba.fastjson2.reader.FieldReaderList"):
        return True
    match found.ours:
        case [dict()]:
            return found.java is ABSENT and (re.search(rb":\s*\{", trial.data) is not None)
        case _:
            return False


def double_at_the_edge(trial: Trial, found: Difference) -> bool:
    """The same numbers, some of Java's with a digit more; nothing else differs."""
    if trial.kind != "write again":
        return False
    if not isinstance(found.java, str) or not isinstance(found.ours, str):
        return False
    number = re.compile(rb"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")
    java, our = bytes.fromhex(found.java), bytes.fromhex(found.ours)
    pairs = list(zip(number.findall(java), number.findall(our), strict=False))
    return number.sub(b"", java) == number.sub(b"", our) and all(
        one == other or (float(one) == float(other) and len(one) == len(other) + 1)
        for one, other in pairs
    )


def null_element(trial: Trial, found: Difference) -> bool:
    is_listed = re.search(rb'null|""|",|,,', text_of(trial)) is not None
    return only_java(found, "null has no place here") and is_listed
