"""Filters in SQL92: pulls with expressions, and the check of an expression (46)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_tools.conformance.broker_cases.common import (
    bodies,
    case,
    finds,
    nothing,
    pull,
    put,
    refuses,
    silence,
    topic,
    visible,
)
from rocketwire_tools.conformance.broker_cases.heartbeats import check_client
from rocketwire_tools.conformance.broker_cases.messages.long_polls import waiting, woken
from rocketwire_tools.conformance.model.case import ALL_PROFILES, SINCE_5_3, Profile

if TYPE_CHECKING:
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.steps import Step

FILTER: Final = "ExpressionMessageFilter.isMatchedByCommitLog, SqlFilter.compile @ 5.5.0"
CHECK: Final = "ClientManageProcessor.checkClientConfig @ 5.5.0"
REQUIRES: Final = {"enablePropertyFilter": "true"}

PROPERTIES: Final[tuple[dict[str, str], ...]] = (
    {"a": "3"}, {"a": "2.5"}, {"a": "abc"}, {"a": "-1"}, {"a": "true"}, {"a": ""},
    {"b": "x"}, {"a": "3", "b": "hello"}, {"A": "3"}, {"a": "3", "TAGS": "TagA"}, {"a": " 3"},
    {"a": "3000000000"},
)  # fmt: skip
"""The properties of the messages 0 to 11, on which expressions are evaluated."""

MESSAGES: Final[tuple[Step, ...]] = (
    topic(),
    *(put(str(number), properties=own) for number, own in enumerate(PROPERTIES)),
    visible(len(PROPERTIES)),
)


def selects(expression: str, *numbers: int) -> Step:
    """A pull with this expression finds these messages of ``MESSAGES``."""
    outcome = (
        finds(*bodies(*numbers)) if numbers else nothing(20, "NO_MATCHED_MESSAGE", len(PROPERTIES))
    )
    return pull(0, outcome, tags=expression, expressionType="SQL92")


def _case(
    number: int, requirement: str, *steps: Step, profiles: frozenset[Profile] = ALL_PROFILES
) -> Case:
    address = f"sql/{number}"
    return case(
        address, FILTER, requirement, *MESSAGES, *steps, requires=REQUIRES, profiles=profiles
    )


def _check(
    number: int, requirement: str, code: int, *expressions: str, kind: str = "SQL92"
) -> Case:
    outcome = refuses(code) if code else refuses(0)
    steps = (check_client(expression, outcome, kind=kind) for expression in expressions)
    return case(f"46/{number}", CHECK, requirement, *steps, requires=REQUIRES)


CASES = (
    _case(1, "Comparisons with an integer MUST match 32-bit integers only.",
        *(selects(text, 0, 7, 9) for text in ("a > 2", "a >= 3", "a = 3", "a = 3L")),
        selects("a < 0", 3), selects("a > -2", 0, 3, 7, 9),
    ),
    _case(2, "Comparisons with a decimal MUST match all numbers.",
        selects("a > 2.4", 0, 1, 7, 9, 10, 11), selects("a = 2.50", 1),
    ),
    _case(3, "Comparisons with an integer beyond 32 bits MUST match 64-bit integers.",
        selects("a = 3000000000", 11)),
    _case(4, "<> MUST match convertible values that differ, and no missing ones.",
        selects("a <> 3", 3), selects("a = -1", 3)),
    _case(5, "Comparisons with a string MUST match the exact text.", selects("a = '3'", 0, 7, 9),
        selects("a = 'abc'", 2)),
    _case(6, "Comparisons with TRUE MUST match the text true.", selects("a = true", 4),
        selects("a = TRUE", 4)),
    _case(7, "IS NULL MUST match missing and empty properties, and IS NOT NULL the others.",
        selects("a is null", 5, 6, 8), selects("a is not null", 0, 1, 2, 3, 4, 7, 9, 10, 11),
    ),
    _case(8, "IN MUST match the listed strings, and NOT IN other texts, but no missing ones.",
        selects("a in ('3','abc')", 0, 2, 7, 9), selects("a not in ('3')", 1, 2, 3, 4, 10, 11),
    ),
    _case(9, "BETWEEN MUST match numbers in the closed range, and NOT BETWEEN other numbers.",
        selects("a between 2 and 4", 0, 7, 9), selects("a not between 2 and 4", 3),
    ),
    _case(10, "NOT MUST NOT match what cannot be compared.", selects("NOT (a > 2)", 3)),
    _case(11, "AND and OR MUST combine comparisons, AND first.",
        selects("a > 2 AND b = 'hello'", 7), selects("a > 2 or b = 'x'", 0, 6, 7, 9),
        selects("b = 'x' or a > 2 and b = 'hello'", 6, 7),
    ),
    _case(12, "CONTAINS, STARTSWITH and ENDSWITH MUST match parts of a text, and NOT CONTAINS the "
        "others.",
        selects("b contains 'ell'", 7), selects("b startswith 'he'", 7),
        selects("b endswith 'lo'", 7), selects("b not contains 'ell'", 6),
        profiles=SINCE_5_3,
    ),
    _case(13, "A constant expression MUST match all messages or none.",
        selects("TRUE", *range(12)), selects("'a' = 'a'", *range(12)), selects("3 > 2", *range(12)),
        selects("FALSE"),
    ),
    _case(14, "Names of properties MUST be compared with their case.", selects("A = 3", 8)),
    _case(15, "The tag of a message MUST be a property.", selects("TAGS = 'TagA'", 9)),
    _case(16, "Comments MUST be ignored.", selects("a > 2 -- c", 0, 7, 9),
        selects("a > 2 /* c */", 0, 7, 9)),
    _case(17, "A name alone SHOULD match nothing.", selects("a")),
    _case(18, "Two doubled quotation marks in a string MUST be one.",
        put("12", properties={"b": "it's"}), visible(13),
        pull(0, finds(*bodies(12)), tags="b = 'it''s'", expressionType="SQL92"),
    ),
    case("sql/19", "PullRequestHoldService.notifyMessageArriving @ 5.5.0",
        "A pull that waits with an expression MUST be woken by a message that it matches, only.",
        topic(), waiting(tags="a > 2", expressionType="SQL92"), silence(on="reader"),
        put("no", properties={"a": "1"}),
        silence(on="reader"), put("yes", properties={"a": "5"}), woken("yes"), requires=REQUIRES,
        attempts=3,
    ),
    _case(20, "Keywords MUST be accepted in any case.", selects("a BETWEEN 2 AND 4", 0, 7, 9),
        selects("a Is NoT nUlL and b = 'hello'", 7)),
    _check(1, "A client's expression that compiles MUST be accepted.", 0, "a > 2", "a in ('3')",
        "a is null", "(a > 2 or b = 'x') and TRUE", "a between 1 and 2", "b contains 'x'"),
    _check(2, "A client's expression with an operator of other languages MUST be refused with 23.",
        23, "a != 2", "a == 2", "a > 2 && b = 'x'", "a > 2 || b = 'x'"),
    _check(3, "A client's expression with numbers in a list MUST be refused with 23.", 23,
        "a in (3)"),
    _check(4, "A range whose bounds are in the wrong order MUST be refused with 23.", 23,
        "a between 4 and 2"),
    _check(5, "An order of strings MUST be refused with 23.", 23, "a > '2'", "a <= 'x'"),
    _check(6, "A comparison with NULL MUST be refused with 23.", 23, "a = NULL"),
    _check(7, "NOT without parentheses before a comparison MUST be refused with 23.", 23,
        "not a > 2"),
    _check(8, "An expression that is not complete MUST be refused with 23.", 23, "a >", "(a > 2",
        "a in ('3'", "and a > 2"),
    _check(9, "A client's tags MUST be accepted.", 0, "*", "a || b", kind="TAG"),
    _check(10, "An unknown type of expression MUST be refused with 23.", 23, "a", kind="XPATH"),
)  # fmt: skip
