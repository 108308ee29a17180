"""Tables and progress on a terminal, and files that appear when they are complete."""

import io
from pathlib import Path

import pytest

from rocketwire_tools.store.output import create_whole, write_table
from rocketwire_tools.terminal import ProgressLine


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


def test_table_without_names_has_no_line_for_them() -> None:
    assert table(("", ""), ("kind", "DLedger"), ("epochs", None)) == ["kind    DLedger", "epochs"]


def test_count_is_shown_now_and_then_and_taken_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.0, 0.1, 0.6, 0.7])
    monkeypatch.setattr("rocketwire_tools.terminal.time.monotonic", lambda: next(times))

    with ProgressLine("{:,} files", is_shown=True) as line:
        for count in (1000, 2000, 3000):
            line.show(count)

    assert capsys.readouterr().err == "\r2,000 files \x1b[K\r\x1b[K"


def test_no_count_is_shown_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.0, 5.0])
    monkeypatch.setattr("rocketwire_tools.terminal.time.monotonic", lambda: next(times))

    with ProgressLine("{:,} files") as line:
        line.show(1)

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("is_folder", [False, True])
def test_run_that_fails_leaves_nothing(is_folder: bool, tmp_path: Path) -> None:
    def fail() -> None:
        with create_whole(tmp_path / "out", is_folder=is_folder) as partial:
            assert partial.is_dir() is is_folder
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fail()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_folder", [False, True])
def test_partial_file_of_an_earlier_run_is_not_touched(is_folder: bool, tmp_path: Path) -> None:
    (tmp_path / "out.partial").mkdir()

    expected = pytest.raises(FileExistsError, match="from an earlier run that did not end; remove")
    with expected, create_whole(tmp_path / "out", is_folder=is_folder):
        pytest.fail("the block ran")

    assert [path.name for path in tmp_path.iterdir()] == ["out.partial"]
