"""Pieces of pages: escaped texts, and tables that scroll in a narrow window."""

import pytest

from rocketwire.serving.http.markup import format_time, page, rest, span, table, text


def test_a_text_is_escaped_and_has_no_control_characters() -> None:
    shown = text("<b>\"'&\r\n\x00")

    assert "<" not in shown
    assert shown.startswith("&lt;b&gt;&quot;&#x27;&amp;")
    assert not {"\r", "\n", "\x00"} & set(shown)


def test_a_page_names_its_language_and_escapes_its_title() -> None:
    document = page("<x>", ["<h1>a</h1>"]).decode()

    assert document.startswith("<!doctype html><html lang=en>")
    assert "<title>&lt;x&gt;</title>" in document


@pytest.mark.parametrize(
    ("seconds", "shown"), [(5, "0 min 5 s"), (90, "1 min 30 s"), (93_784, "1 d 2 h 3 min")]
)
def test_durations_are_short(seconds: float, shown: str) -> None:
    assert span(seconds) == shown


def test_times_are_in_utc() -> None:
    assert format_time(0) == "1970-01-01 00:00:00 UTC"


@pytest.mark.parametrize("seconds", [253_402_300_800.0, -62_135_596_801.0, 9.3e15])
def test_a_time_that_no_calendar_has_is_a_number(seconds: float) -> None:
    assert format_time(seconds) == f"{seconds:.0f} s since 1970"


@pytest.mark.parametrize("mark", [*range(0x202A, 0x202F), *range(0x2066, 0x206A)], ids=hex)
def test_marks_that_change_the_direction_of_a_text_are_escaped(mark: int) -> None:
    assert text(f"a{chr(mark)}b") == f"a\\u{mark:04x}b"


def test_a_table_with_a_label_scrolls_by_keyboard_too() -> None:
    markup = table(("a", "b"), [("1", "2")], frozenset({1}), "figures")

    assert markup.startswith('<div class=wide role=region tabindex=0 aria-label="figures"><table>')
    assert "<th scope=col>a</th>" in markup
    assert "<td>1</td><td class=n>2</td>" in markup


def test_a_table_without_a_label_has_no_region() -> None:
    markup = "<table><tr><th scope=col>a</th></tr><tr><td>1</td></tr></table>"

    assert table(("a",), [("1",)]) == markup


def test_lines_that_are_not_listed_are_counted() -> None:
    assert (rest(2, 5), rest(5, 5)) == ("<p>and 3 more</p>", "")
