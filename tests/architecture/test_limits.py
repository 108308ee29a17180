"""Each limit of ``docs/limits.md`` has two tests: the largest value of a real peer, and one beyond."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text("utf-8")
LISTED = "## Tests of each limit"


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    heads = {number for number, line in enumerate(lines[1:]) if set(line) <= set("|-: ")}
    kept = [line for number, line in enumerate(lines) if not {number, number - 1} & heads]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in kept]


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8")


LIMITS, _, TESTS = PAGE.partition(LISTED)


def test_every_limit_has_a_row_with_its_tests_and_no_row_is_left_over() -> None:
    limits = [cells[0] for cells in rows(LIMITS)]

    assert len(limits) > 70
    assert sorted(cells[0] for cells in rows(TESTS)) == sorted(limits)


def test_every_test_that_the_page_names_exists() -> None:
    missing: list[str] = []
    for limit, *tests in rows(TESTS):
        assert len(tests) == 2, limit
        for test in tests:
            file, _, name = test.strip("`").partition("::")
            path = ROOT / "tests" / file
            if not path.is_file() or not re.search(rf"def {name}\(", source(path)):
                missing.append(test)

    assert missing == []


def test_every_constant_that_the_page_names_exists() -> None:
    missing: list[str] = []
    for cells in rows(LIMITS):
        for name in re.findall(
            r"`(rocketwire(?:_namesrv|_broker|_tools)?(?:\.[a-z_0-9]+)+\.[A-Z][A-Z_0-9]+)`",
            cells[-1],
        ):
            module, _, constant = name.rpartition(".")
            parts = module.split(".")
            folder = {
                "rocketwire_namesrv": "namesrv",
                "rocketwire_broker": "broker",
                "rocketwire_tools": "tools",
            }.get(parts[0], ".")
            path = ROOT / folder / Path(*parts)
            files = [path.with_suffix(".py"), path / "__init__.py"]
            if not any(
                path.is_file() and re.search(rf"\b{constant}\b", source(path)) for path in files
            ):
                missing.append(name)

    assert missing == []
