"""Pieces of HTML pages for operators, without scripts and external files.

Rules of this file: every text goes through ``text``, which escapes markup and control characters,
because most texts come from peers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

from rocketwire.serving.events import format_value

STYLE: Final = """
body{font:14px/1.4 system-ui,sans-serif;margin:1.5em;color:#222;background:#fff}
h1{font-size:1.4em;margin:0}h2{font-size:1.1em;margin:1.6em 0 .4em}
table{border-collapse:collapse}th,td{text-align:left;padding:.15em .8em .15em 0;vertical-align:top;
border-bottom:1px solid #ddd}td.n,th.n{text-align:right}.bad{color:#b00020;font-weight:600}
.ok{color:#06662c;font-weight:600}p{margin:.3em 0}code{font-size:.95em}
code,td a{overflow-wrap:anywhere}td:nth-child(1){min-width:8em}
td:nth-child(n+3) code{display:inline-block;min-width:12em}
.wide{overflow-x:auto}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3em 0;padding:.5em;
border:1px solid #ddd}label{margin-right:.6em}a:focus,.wide:focus{outline:2px solid #36c}
@media(max-width:30em){body{margin:.6em}input{max-width:60vw}}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td,pre{border-color:#444}
.bad{color:#ff7b8a}.ok{color:#6ccf8e}a{color:#8ab4f8}a:visited{color:#c58af9}}
"""


def page(title: str, parts: Iterable[str]) -> bytes:
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<meta name=viewport content='width=device-width'><title>{text(title)}</title>"
        "<link rel=icon href=data:,>"  # browsers ask for one otherwise
        f"<style>{STYLE}</style>"
    )
    return "".join((head, "<main>", *parts, "</main>")).encode("utf-8", "replace")


def text(value: object) -> str:
    """Return a value as HTML: one line, at most 500 characters."""
    return escape(format_value(value))


def format_time(seconds: float) -> str:
    """Return a time, given in seconds since 1970; the number if no calendar has it."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.0f} s since 1970"


def span(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h {minutes} min" if days or hours else f"{minutes} min {seconds} s"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: frozenset[int] = frozenset(),
    label: str = "",
) -> str:
    """Return a table of HTML cells; ``label`` names it for screen readers if it scrolls."""

    def line(tag: str, cells: Sequence[str]) -> str:
        scope = " scope=col" if tag == "th" else ""
        return "".join(
            f"<{tag}{scope}{' class=n' if column in numeric else ''}>{cell}</{tag}>"
            for column, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    whole = f"<table><tr>{line('th', heads)}</tr>{body}</table>"
    if not label:
        return whole
    return f'<div class=wide role=region tabindex=0 aria-label="{text(label)}">{whole}</div>'


def rest(listed: int, total: int) -> str:
    """Return how many items are not listed; nothing if all are."""
    return f"<p>and {total - listed} more</p>" if total > listed else ""
