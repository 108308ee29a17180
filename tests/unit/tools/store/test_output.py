"""Tables on a terminal."""

from __future__ import annotations

import io

from rocketwire_tools.store.output import write_table


def table(header: tuple[str, ...], *rows: tuple[object, ...]) -> list[str]:
    output = io.StringIO()
    write_table(header, rows, output)
    return output.getvalue().splitlines()


def test_numbers_stand_to_the_right_below_the_names_of_their_columns() -> None:
    assert table(("topic", "bytes"), ("orders", 5), ("t", 1_000)) == [
        "topic   bytes",
        "orders      5",
        "t        1000",
    ]


def test_a_table_without_names_has_no_line_for_them() -> None:
    assert table(("", ""), ("kind", "DLedger"), ("epochs", None)) == [
        "kind    DLedger",
        "epochs",
    ]
