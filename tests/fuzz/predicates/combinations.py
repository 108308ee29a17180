"""Differences with several causes, or of several formats."""

import re

from tests.fuzz.predicates.difference import only_java, only_ours
from tests.fuzz.predicates.json_texts import damaged, not_json
from tests.fuzz.trials import ABSENT, Difference, Trial


def null_field(_: Trial, difference: Difference) -> bool:
    return difference.path[:1] == ("ext",) and difference.java is None and difference.ours is ABSENT


def never_ends(trial: Trial, difference: Difference) -> bool:
    return not_json(trial) and only_ours(difference, "NeverEnds")


def malformed_for_us(trial: Trial, difference: Difference) -> bool:
    return not_json(trial) and only_java(difference)


def malformed_for_java(trial: Trial, difference: Difference) -> bool:
    return not_json(trial) and only_ours(difference)


def skipped_keys(trial: Trial, difference: Difference) -> bool:
    refused = only_ours(difference, "not support unquoted name") or (
        only_ours(difference)
        and re.match(r"illegal fieldName input ?(?:4[5-9]|5[0-7])\b", difference.java.message)
        is not None
    )
    return damaged(trial) and refused


def large_exponent(trial: Trial, difference: Difference) -> bool:
    return damaged(trial) and only_ours(difference, "too large exp value")


def no_memory(_: Trial, difference: Difference) -> bool:
    return only_ours(difference, "OutOfMemoryError")
