import json
from collections.abc import AsyncGenerator, Sequence

import pytest
import trio

from rocketwire_tools.cli.command import CellType, Column, Listing, Record, Table, Value
from rocketwire_tools.cli.output import print_rows, render
from rocketwire_tools.values import utc

TABLE = Table(
    (
        "brokerName",
        Column("count", CellType.NUMBER),
        Column("started", CellType.TIME),
        Column("size", CellType.BYTES),
        Column("of", CellType.VALUE),
    ),
    [
        ("a", 5, 1_700_000_000_123, 1536, {"k": [1]}),
        ("long name", None, None, 3, None),
        ("c, d", 12, 0, None, True),
    ],
)


def test_a_table_is_aligned_and_readable() -> None:
    assert """\
brokerName  count  started                      size  of
a               5  2023-11-14T22:13:20.123Z  1.5 KiB  {"k":[1]}
long name       -  -                             3 B  -
c, d           12  1970-01-01T00:00:00.000Z        -  true
""" == render(TABLE, "table")


def test_wide_characters_take_two_columns_of_a_table() -> None:
    rows = [("订单", 1), ("a\u0301b", 22), ("orders", 3)]
    assert """\
topic   count
订单        1
a\u0301b         22
orders      3
""" == render(Table("topic count:number", rows), "table")


def test_json_is_an_array_of_objects_with_the_values_as_they_are() -> None:
    rows = json.loads(render(TABLE, "json"))

    assert {
        "brokerName": "a",
        "count": 5,
        "started": 1_700_000_000_123,
        "size": 1536,
        "of": {"k": [1]},
    } == rows[0]
    assert [None, None] == [rows[1]["count"], rows[1]["started"]]
    assert [] == json.loads(render(Table(("a",), []), "json"))


def test_csv_quotes_special_values() -> None:
    lines = render(TABLE, "csv").splitlines()

    assert "brokerName,count,started,size,of" == lines[0]
    assert 'a,5,1700000000123,1536,"{""k"":[1]}"' == lines[1]
    assert "long name,,,3," == lines[2]
    assert '"c, d",12,0,,true' == lines[3]


def test_a_record_has_a_line_for_each_member() -> None:
    record = Record({"topic": "T", "queues": 4, "ok": True})

    assert "topic   T\nqueues  4\nok      true\n" == render(record, "table")
    assert '{"topic":"T","queues":4,"ok":true}\n' == render(record, "json")
    assert "name,value\ntopic,T\nqueues,4\nok,true\n" == render(record, "csv")


@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_text_is_printed_as_it_is(form: str) -> None:
    assert "done\n" == render("done", form)
    assert "" == render(None, form)


def test_a_text_in_json_is_a_text() -> None:
    assert '"done"\n' == render("done", "json")


def test_a_time_that_no_calendar_has_stays_a_number() -> None:
    assert str(2**62) == utc(2**62)


@pytest.mark.parametrize(
    ("form", "waits_for", "text"),
    [
        ("json", 1, '[{"a":0},\n {"a":1}]\n'),
        ("csv", 1, "a\n0\n1\n"),
        ("table", 100, "a \n0 \n1 \n"),
    ],
)
def test_rows_are_printed_as_they_arrive_up_to_a_limit(
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    form: str,
    waits_for: int,
    text: str,
) -> None:
    printed: list[str] = []

    async def rows() -> AsyncGenerator[Sequence[Value]]:
        for number in range(1000):
            printed.append(capsys.readouterr().out)
            yield (number,)

    async def describe_total() -> str:
        return "1,000 in all"

    def list_rows(limit: int) -> str:
        printed.clear()
        trio.run(print_rows, Listing(Table("a", ()), rows(), limit, describe_total), form)
        return "".join(printed) + capsys.readouterr().out

    assert list_rows(2).replace(" ", "") == text.replace(" ", "")
    assert caplog.messages == ["1,000 in all"]
    assert list_rows(0) == render(Table("a", [(number,) for number in range(1000)]), form)
    assert [bool(text) for text in printed] == [False] * waits_for + [True] * (1000 - waits_for)
    assert caplog.messages == ["1,000 in all"]


def test_what_waits_is_printed_before_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    async def rows() -> AsyncGenerator[Sequence[Value]]:
        yield (5,)
        raise KeyError

    with pytest.raises(KeyError):
        trio.run(print_rows, Listing(Table("a", ()), rows(), 0, None), "table")
    assert capsys.readouterr().out == "a\n5\n"


def test_a_terminal_shows_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def rows() -> AsyncGenerator[Sequence[Value]]:
        for number in range(2):
            yield (number,)

    monkeypatch.setattr("rocketwire_tools.terminal.INTERVAL", 0.0)
    monkeypatch.setattr("rocketwire_tools.cli.output.is_watched", lambda: True)
    trio.run(print_rows, Listing(Table("a", ()), rows(), 0, None), "csv")
    assert capsys.readouterr() == ("a\n0\n1\n", "\r1 messages \x1b[K\r2 messages \x1b[K\r\x1b[K")
