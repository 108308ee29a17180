"""Explained differences of bodies."""

import re
import time
from typing import Any, cast

from tests.fuzz.predicates.difference import only_java, only_ours, text_of
from tests.fuzz.predicates.json_texts import damaged
from tests.fuzz.predicates.members import DERIVED_MEMBERS, ENUM_MEMBERS
from tests.fuzz.trials import ABSENT, Difference, Trial, differences


def unlisted_constant(_: Trial, difference: Difference) -> bool:
    names = [name for name in difference.path if isinstance(name, str)]
    return (
        difference.java in (None, ABSENT)
        and isinstance(difference.ours, str)
        and bool(names)
        and names[-1] in ENUM_MEMBERS
    )


def clock(_: Trial, difference: Difference) -> bool:
    if difference.ours not in (ABSENT, None) or not isinstance(difference.java, int):
        return False
    return abs(difference.java / 1000 - time.time()) < 24 * 3600


def derived(_: Trial, difference: Difference) -> bool:
    if only_java(difference, "expected an integer"):
        return any(f".{name}:" in difference.ours.message for name in DERIVED_MEMBERS)
    if difference.path and difference.path[-1] == "alive":
        return difference.java is False and difference.ours is ABSENT
    return bool(difference.path) and difference.path[-1] in DERIVED_MEMBERS


def incomplete(trial: Trial, difference: Difference) -> bool:
    if not only_ours(difference, "NullPointerException"):
        return False
    return trial.about.split(".")[0] in (
        "EpochEntry",
        "EpochEntryCache",
        "SyncStateSet",
        "BrokerReplicasInfo",
        "QueryAssignmentResponseBody",
    )


def incomplete_epoch(_: Trial, difference: Difference) -> bool:
    return difference.path[-1:] == ("endOffset",) and (difference.java, difference.ours) == (
        0,
        (1 << 63) - 1,
    )


def null_in_key(trial: Trial, difference: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or not only_ours(difference, "read field"):
        return False
    keys = re.findall(rb"[{,](\{[^{}]*\}):", trial.data)
    return any(
        any(name not in key for name in (b"brokerName", b"queueId", b"topic")) for key in keys
    )


def in_order(subscriptions: object) -> list[dict[str, Any]]:
    # Subscriptions as Java's sorted set has them: by topic and expression, of equal ones the first.
    kept: dict[bytes, dict[str, Any]] = {}
    for subscription in cast("list[dict[str, Any]]", subscriptions):
        name = f"{subscription.get('topic', 'null')}@{subscription.get('subString', 'null')}"
        kept.setdefault(name.encode("utf-16-be", "surrogatepass"), subscription)
    return [kept[name] for name in sorted(kept)]


def unsorted_set(trial: Trial, difference: Difference) -> bool:
    if trial.about != "ConsumerRunningInfo" or difference.path[:1] != ("subscriptionSet",):
        return False
    java, our = (side["subscriptionSet"] for side in (trial.java, trial.ours))
    if in_order(our) == our:
        return False
    return all(clock(trial, part) for part in differences(java, in_order(our)))


def lone_object(trial: Trial, difference: Difference) -> bool:
    if not damaged(trial):
        return False
    if only_ours(difference, ": class com.alibaba.fastjson2.reader.FieldReaderList"):
        return True
    match difference.ours:
        case [dict()]:
            return difference.java is ABSENT and (re.search(rb":\s*\{", trial.data) is not None)
        case _:
            return False


def double_at_the_edge(trial: Trial, difference: Difference) -> bool:
    # The same numbers, some of Java's with a digit more; nothing else differs.
    if trial.kind != "write again":
        return False
    if not isinstance(difference.java, str) or not isinstance(difference.ours, str):
        return False
    number = re.compile(rb"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")
    java, our = bytes.fromhex(difference.java), bytes.fromhex(difference.ours)
    pairs = list(zip(number.findall(java), number.findall(our), strict=False))
    return number.sub(b"", java) == number.sub(b"", our) and all(
        of_java == of_ours
        or (float(of_java) == float(of_ours) and len(of_java) == len(of_ours) + 1)
        for of_java, of_ours in pairs
    )


def null_element(trial: Trial, difference: Difference) -> bool:
    is_listed = re.search(rb'null|""|",|,,', text_of(trial)) is not None
    return only_java(difference, "null has no place here") and is_listed
