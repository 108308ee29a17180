"""SQL92 filters accept, and let pass, what Java's own parser and expressions do."""

import random
import re
import subprocess
from base64 import b64encode
from pathlib import Path
from random import Random
from typing import Final

import pytest

from rocketwire.sql92 import IllegalExpressionError, compile_expression
from rocketwire.wire.message.properties import encode_properties
from tests.peers.cache import JavaUnavailableError, classes
from tests.peers.peers import OLD, RELEASES, java

EXPRESSIONS: Final = 2000
MESSAGES: Final = 8
"""For each expression."""

NAMES: Final = ("a", "b", "TAGS", "$x", "_y", "A", "a1", "missing")
VALUES: Final = (
    *("3", "2.5", "abc", "-1", "true", "TRUE", "false", " 3", "3 ", "0", "-0", "+3", "007", "it's"),
    *("3f", "3d", "3.", "  .5", "1e3", "1E400", "1e-400", "NaN", "-Infinity", "0x10", "0x1p3"),
    *("2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807"),
    *(
        "9223372036854775808",
        "3L",
        "1_000",
        "\u0663",
        "\U0001d7d7",
        "null",
        "TagA",
        "%",
        "\0",
        "-0.0",
    ),
)
NUMBERS: Final = (
    *("0", "1", "3", "-1", "+3", "2.5", "-2.5", "2147483647", "2147483648", "3L", "-3l", "1e3"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "1E+3", "2.5e-1", ".5"),
    *(
        "3.",
        "1e400",
        "1e-400",
        "0.0",
        "00",
        "007",
        "0x10",
        "0L",
        "1.5f",
        "- 3",
        "-(3)",
        "--3",
        "1e",
    ),
)
TEXTS: Final = (
    *("'3'", "'abc'", "''", "'it''s'", "'TagA'", "'true'", "'%'", "' 3'", "'2.5'", "''''", "'b\n'"),
    *('"abc"', "'\U0001f680'"),
)
LITERALS: Final = ("true", "false", "null", "TRUE", "NULL")
OPERATORS: Final = ("=", "<>", ">", ">=", "<", "<=", "!=", "==")
WORDS: Final = ("contains", "startswith", "endswith", "CONTAINS", "like")
NOISE: Final = (
    *("(", ")", "'", '"', ",", "+", "-", "*", "/", "=", "<", ">", "!", "--x\n", "--x", "/* c */"),
    *("/*", "\t", "\r", "\f", "\x0b", "\u00a0", ".", "a", "3", "L", "not", "and", "or", "null"),
    *(";", "#", "\u00e9", "\\", "a.b", "a-b"),
)


def operand(chance: Random) -> str:
    return chance.choice(chance.choice((NAMES, NAMES, NAMES, NUMBERS, NUMBERS, TEXTS, LITERALS)))


def simple(chance: Random) -> str:
    term, negation = operand(chance), chance.choice(("", "not ", "NOT "))
    choice = chance.randrange(10)
    if choice < 5:
        return f"{term} {chance.choice(OPERATORS)} {operand(chance)}"
    if choice == 5:
        return f"{term} is {negation}null"
    if choice == 6:
        texts = [chance.choice(TEXTS) for _ in range(chance.randint(0, 6))]
        return f"{term} {negation}in ({', '.join(texts or ['3'])})"
    if choice == 7:
        return f"{term} {negation}between {operand(chance)} and {chance.choice(NUMBERS)}"
    if choice == 8:
        return f"{term} {negation}{chance.choice(WORDS)} {chance.choice(TEXTS)}"
    return term


def condition(chance: Random, depth: int) -> str:
    choice = chance.randrange(10)
    if depth <= 0 or choice < 4:
        return simple(chance)
    inner = condition(chance, depth - 1)
    if choice < 7:
        return f"{inner} {chance.choice(('and', 'or', 'AND'))} {condition(chance, depth - 1)}"
    if choice == 7:
        return f"not {inner}"
    if choice == 8:
        return f"({inner})"
    return f"({inner}) {chance.choice(('=', '<>', '>', 'is null', ''))} ({simple(chance)})"


def with_noise(text: str, chance: Random) -> str:
    place = chance.randrange(len(text) + 1)
    return chance.choice(
        (
            text[:place] + chance.choice(NOISE) + text[place:],
            text[:place] + f" {chance.choice(NOISE)} " + text[place:],
            text[:place] + text[place + 1 :],
            text[:place],
        )
    )


def expression(chance: Random) -> str:
    text = condition(chance, chance.randrange(4))
    return with_noise(text, chance) if chance.random() < 0.35 else text


def message(chance: Random) -> dict[str, str]:
    names = chance.sample(NAMES[:-1], chance.randint(0, 5))
    return {name: chance.choice(VALUES) for name in names}


def line(text: str, messages: list[dict[str, str]]) -> str:
    parts = [text, *map(encode_properties, messages)]
    return " ".join(b64encode(part.encode()).decode() for part in parts) + "\n"


def passes(text: str, messages: list[dict[str, str]]) -> str:
    try:
        matches = compile_expression(text)
    except IllegalExpressionError:
        return "refused"
    return "".join("T" if matches(properties) else "-" for properties in messages)


@pytest.mark.java
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.full
def test_random_expressions_are_accepted_and_match_as_in_java(release: str, tmp_path: Path) -> None:
    chance = random.Random(release)
    texts = [expression(chance) for _ in range(EXPRESSIONS)]
    if release == OLD:  # has no CONTAINS, STARTSWITH and ENDSWITH
        texts = [text for text in texts if not re.search("contains|with", text, re.IGNORECASE)]
    questions = [(text, [message(chance) for _ in range(MESSAGES)]) for text in texts]
    try:
        command = java(release, "Filters", classes=classes(release, "Filters.java"))
    except JavaUnavailableError as missing:
        pytest.skip(str(missing))
    ended = subprocess.run(
        command,
        input="".join(line(*question) for question in questions).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )

    answers = ended.stdout.decode().splitlines()
    differences = [
        (question, answer)
        for question, answer in zip(questions, answers, strict=True)
        if passes(*question) != (answer if answer == "refused" else re.sub("[^T]", "-", answer))
    ]

    assert not differences, differences[:5]
    assert answers.count("refused") < len(answers) * 3 / 4
    assert all(letter in "".join(answers) for letter in "TFNE")
