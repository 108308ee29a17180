"""Several processes for one capture give what one does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.pcap.__main__ import main
from rocketwire_tools.pcap.decode import decoder
from rocketwire_tools.pcap.decode.decoder import Decoder, Options, Totals
from rocketwire_tools.pcap.decode.jobs import Jobs
from rocketwire_tools.pcap.errors import CaptureError
from rocketwire_tools.pcap.files.splits import find_record, read_head
from rocketwire_tools.pcap.rows.rows import COLUMNS, PLACES
from rocketwire_tools.pcap.rows.selection import Selection
from tests.support.captures.decoded_rows import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.captures.fixtures import Made


@pytest.fixture(scope="module", params=[2, 3, 4])
def jobs(request: pytest.FixtureRequest) -> Iterator[Jobs]:
    """This process and another, two others, two shares of the connections."""
    made = Jobs(request.param, Selection())
    yield made
    made.close()


def found(jobs: Jobs, path: Path) -> list[dict[str, Any]]:
    return [row for batch in jobs.decode(str(path), Totals()) for row in batch.to_pylist()]


@pytest.mark.process
def test_the_rows_and_their_order_are_those_of_one_process(
    jobs: Jobs, usual: Made, lossy: Made
) -> None:
    for made in (usual, lossy):
        assert rows(made.path) == found(jobs, made.path)


@pytest.mark.slow
def test_shares_with_pairs_across_cells_are_the_whole(
    lossy: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "CELL", 50_000)
    fields = [*COLUMNS, *PLACES]
    whole = rows(lossy.path, Options(fields=fields))
    parts = [
        row for k in range(3) for row in rows(lossy.path, Options(fields=fields, share=(k, 3)))
    ]
    parts.sort(key=lambda row: (row["last_where"], row["first_where"]))
    assert whole == parts


@pytest.mark.process
def test_totals_are_those_of_one_process(jobs: Jobs, usual: Made) -> None:
    alone = Decoder(str(usual.path))
    list(alone)
    totals = Totals()
    list(jobs.decode(str(usual.path), totals))
    assert alone.totals == totals


@pytest.mark.process
def test_a_capture_that_cannot_be_read_on_gives_the_rows_before_and_then_the_next_one(
    jobs: Jobs, usual: Made, tmp_path: Path
) -> None:
    head = read_head(str(usual.path))
    assert head is not None
    offset = find_record(str(usual.path), head, 1_000_000)
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(usual.path.read_bytes()[:offset])
    before = rows(bad)
    bad.write_bytes(bad.read_bytes() + b"\xff" * 100)
    given: list[dict[str, Any]] = []
    with pytest.raises(CaptureError, match=rf"bad\.pcap at byte {offset}: a record claims"):
        given.extend(row for one in jobs.decode(str(bad), Totals()) for row in one.to_pylist())
    assert before == given
    assert rows(usual.path) == found(jobs, usual.path)


@pytest.mark.process
@pytest.mark.parametrize("form", ["jsonl", "csv", "text"])
def test_the_command_prints_the_same_with_jobs(
    form: str, lossy: Made, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    wish = [
        "decode",
        str(lossy.path),
        "--format",
        form,
        "--filter",
        "code == 310 or latency_ns > 0",
    ]
    assert main(wish) == 0
    expected = capfdbinary.readouterr().out
    assert main([*wish, "--jobs", "2"]) == 0
    assert expected == capfdbinary.readouterr().out


@pytest.mark.process
def test_a_process_that_ends_by_itself_is_told(usual: Made) -> None:
    made = Jobs(2, Selection())
    try:
        for process in made._processes:  # pyright: ignore[reportPrivateUsage] - what a test may kill
            process.kill()
            process.join()
        with pytest.raises((CaptureError, BrokenPipeError)):
            found(made, usual.path)
    finally:
        made.close()
