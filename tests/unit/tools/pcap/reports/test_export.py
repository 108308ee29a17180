"""``export``: the packets of a connection in a file of their own, which gives the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.pcap.__main__ import main
from tests.support.captures.builder import save
from tests.support.captures.decoded_rows import Row, rows
from tests.support.captures.files import RAW, FileKind
from tests.unit.tools.pcap.reports.test_follow import busiest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.captures.fixtures import Made


def of(connection: str, found: list[Row]) -> list[Row]:
    """The rows of a connection, without the name of their file."""
    return [row | {"file": ""} for row in found if row["connection"] == connection]


@pytest.mark.parametrize("suffix", [".pcap", ".pcapng"])
def test_what_is_exported_gives_the_same_rows(suffix: str, usual: Made, tmp_path: Path) -> None:
    every = rows(usual.path)
    connection = busiest(every)
    goal = tmp_path / f"one{suffix}"
    assert main(["export", str(usual.path), "--connection", connection, "-o", str(goal)]) == 0
    assert of(connection, every) == of(connection, rows(goal))
    assert {connection} == {row["connection"] for row in rows(goal)}


def test_every_packet_comes_also_those_without_payload(usual: Made, tmp_path: Path) -> None:
    connection = next(row["connection"] for row in rows(usual.path) if ":" not in row["src"])
    (host, port), (other, other_port) = (end.split(":") for end in connection.split("-"))
    ends = {(host, int(port)), (other, int(other_port))}
    expected = [one.time_ns for one in usual.packets if {one.source, one.target} == ends]
    goal = tmp_path / "one.pcap"
    assert main(["export", str(usual.path), "--connection", connection, "-o", str(goal)]) == 0
    data = goal.read_bytes()
    found: list[int] = []
    at = 24
    while at < len(data):
        seconds, rest, length = (
            int.from_bytes(data[i : i + 4], "little") for i in (at, at + 4, at + 8)
        )
        found.append(seconds * 10**9 + rest)
        at += 16 + length
    assert expected == found


def test_ipv6_connections_and_several_at_once_are_exported(usual: Made, tmp_path: Path) -> None:
    every = rows(usual.path)
    six = next(row["connection"] for row in every if ":" in row["src"])
    wanted = {six, busiest([row for row in every if row["connection"] != six])}
    options = [word for name in wanted for word in ("--connection", name)]
    goal = tmp_path / "two.pcap"
    assert main(["export", str(usual.path), *options, "-o", str(goal)]) == 0
    assert wanted == {row["connection"] for row in rows(goal)}


def test_two_link_types_need_a_file_that_can_tell_them_apart(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mixed = save(tmp_path / "mixed.pcapng", usual.packets, FileKind(pcapng=True, link=RAW))
    options = [str(mixed), "--connection", "10.9.0.1:10911"]
    assert main(["export", *options, "-o", str(tmp_path / "all.pcap")]) == 2
    assert "ends in .pcapng" in capfd.readouterr().err
    goal = tmp_path / "all.pcapng"
    assert main(["export", *options, "-o", str(goal)]) == 0
    expected = [row for row in rows(mixed) if "10.9.0.1:10911" in row["connection"].split("-")]
    assert [row | {"file": ""} for row in expected] == [row | {"file": ""} for row in rows(goal)]


def test_nothing_is_masked_and_no_capture_written_over(
    usual: Made, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    connection = busiest(rows(usual.path))
    options = ["export", str(usual.path), "--connection", connection, "-o"]
    assert main([*options, str(tmp_path / "x.pcap"), "--redact", "secret"]) == 2
    assert "cannot be masked" in capfd.readouterr().err
    assert main([*options, str(usual.path)]) == 2
    assert "is one of the captures" in capfd.readouterr().err
    assert (
        main(["export", str(usual.path), "--connection", "192.0.2.1:1", "-o", str(tmp_path / "x")])
        == 1
    )
    assert "no packet of this connection" in capfd.readouterr().err
