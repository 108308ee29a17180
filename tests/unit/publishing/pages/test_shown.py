"""The output that a page shows, compared with what a command prints."""

from __future__ import annotations

import pytest

from publishing.pages import shown


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("broker-a  127.0.0.1:10911  ok", "broker-a 10.1.2.3:4 ok"),
        ("at 2026-01-31 12:00:00 WARN", "at 2027-02-03T04:05:06.789Z WARN"),
        ("took 9.8 s", "took 12.25 s"),
        ("id 7F00000100002A9F0000000000000000", "id AC110002000012340000000000000ABC"),
        ('{"queueId":2}', '{"queueId":7}'),
        ("name  ----  kind", "name -------- kind"),
        ("1/465 pass ... MUST", "1/465 pass  transport/5  MUST"),
    ],
)
def test_what_differs_from_run_to_run_agrees(line: str, printed: str) -> None:
    assert shown.agree([line], [printed])


@pytest.mark.parametrize(
    ("line", "printed"),
    [("1 error", "2 error"), ("pass", "fail"), ("a", ""), ("12 checked x", "12 checked y")],
)
def test_other_words_and_small_numbers_do_not_agree(line: str, printed: str) -> None:
    assert not shown.agree([line], [printed])


def test_three_dots_stand_for_any_lines() -> None:
    printed = ["first", "second", "third", "last"]

    assert shown.agree(["first", "...", "last"], printed)
    assert shown.agree(["first", "second", "...", "third", "last"], printed)
    assert not shown.agree(["first", "...", "third"], printed)
    assert not shown.agree(["first", "last"], printed)


def test_shown_lines_are_part_of_the_output() -> None:
    printed = ["first", "second", "third"]

    assert shown.contain(printed, ["second", "third"])
    assert not shown.contain(printed, ["first", "third"])
