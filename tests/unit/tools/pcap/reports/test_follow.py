"""``follow``: one connection's frames in order, answers beside what they answer, nothing of other connections."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.reports.connection_filter import ConnectionNameError, parse_ends
from tests.support.captures.decoded_rows import Row, rows

if TYPE_CHECKING:
    from tests.support.captures.fixtures import Made


def busiest(found: list[Row]) -> str:
    """The connection with most frames."""
    connection: str = Counter(row["connection"] for row in found).most_common(1)[0][0]
    return connection


def test_the_frames_of_the_connection_come_and_no_others(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    every = rows(usual.path)
    connection = busiest(every)
    first, _, second = connection.partition("-")
    expected = [row["opaque"] for row in every if row["connection"] == connection]
    for name in (connection, f"{second}-{first}", first):
        assert main(["follow", name, str(usual.path), "--format", "jsonl"]) == 0
        found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
        assert {connection} == {row["connection"] for row in found}
        assert expected == [row["opaque"] for row in found]


def test_text_shows_who_spoke_and_how_long_an_answer_took(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    every = rows(usual.path)
    connection = busiest(every)
    wanted = [row for row in every if row["connection"] == connection]
    assert main(["follow", connection, str(usual.path)]) == 0
    head, *lines, last = capfd.readouterr().out.splitlines()
    assert connection == head
    assert len(wanted) == len(lines)
    for row, line in zip(wanted, lines, strict=True):
        end = f"{row['src']}:{row['src_port']}".replace(
            row["src"], f"[{row['src']}]" if ":" in row["src"] else row["src"]
        )
        assert (" > " in line) == connection.startswith(f"{end}-")
        assert (f"after {(row['latency_ns'] or 0) / 1e6:.3f}ms" in line) == (
            row["latency_ns"] is not None
        )
    requests = sum(row["kind"] == "request" for row in wanted)
    answered = sum(row["latency_ns"] is not None for row in wanted)
    assert last.startswith(f"{requests} requests ({requests - answered} without an answer), ")


def test_bodies_and_extension_fields_come_only_if_asked_for(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    connection = busiest(rows(usual.path))
    assert main(["follow", connection, str(usual.path)]) == 0
    assert "ext_fields" not in capfd.readouterr().out
    assert main(["follow", connection, str(usual.path), "--ext-fields"]) == 0
    assert "      ext_fields {" in capfd.readouterr().out


def test_a_masked_name_finds_the_connection_again(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    connection = busiest(rows(usual.path))
    masked = ["follow", str(usual.path), "--redact", "secret"]
    assert main([masked[0], connection, *masked[1:]]) == 0
    text = capfd.readouterr().out
    assert connection.partition(":")[0] not in text
    assert main([masked[0], text.splitlines()[0], *masked[1:]]) == 0
    assert text == capfd.readouterr().out


def test_no_such_connection_ends_with_one_and_no_connection_at_all_with_two(
    usual: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["follow", "192.0.2.1:1", str(usual.path)]) == 1
    assert "no frame of this connection" in capfd.readouterr().err
    assert main(["follow", "nonsense", str(usual.path)]) == 2
    assert "'nonsense': must be a connection like" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "a:1", "1.2.3.4", "1.2.3.4:70000", "1.2.3.4:1-1.2.3.4:2-1.2.3.4:3"]
)
def test_what_names_no_end_is_refused(text: str) -> None:
    with pytest.raises(ConnectionNameError):
        parse_ends(text)


def test_ends_are_the_same_however_their_addresses_are_written() -> None:
    assert parse_ends("[2001:db8:0::1]:5-10.0.0.1:7") == parse_ends("10.0.0.1:7-[2001:db8::1]:5")
