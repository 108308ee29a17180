"""When a difference is explained by several things together, or by one for several formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.fuzz.predicates.difference import only_java, only_ours
from tests.fuzz.predicates.json_texts import damaged, not_json
from tests.fuzz.trials import ABSENT, Difference

if TYPE_CHECKING:
    from tests.fuzz.trials import Trial


def null_field(_: Trial, found: Difference) -> bool:
    return found.path[:1] == ("ext",) and found.java is None and found.ours is ABSENT


def never_ends(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_ours(found, "NeverEnds")


def malformed_for_us(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_java(found)


def malformed_for_java(trial: Trial, found: Difference) -> bool:
    return not_json(trial) and only_ours(found)


def skipped_keys(trial: Trial, found: Difference) -> bool:
    refused = only_ours(found, "not support unquoted name") or (
        only_ours(found)
        and re.match(r"illegal fieldName input ?(?:4[5-9]|5[0-7])\b", found.java.message)
        is not None
    )
    return damaged(trial) and refused


def large_exponent(trial: Trial, found: Difference) -> bool:
    return damaged(trial) and only_ours(found, "too large exp value")


def no_memory(_: Trial, found: Difference) -> bool:
    return only_ours(found, "OutOfMemoryError")
