"""Plain files below a folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketwire_broker.files import disk as module
from rocketwire_broker.files.disk import Disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path)
    yield disk
    disk.close()


def test_a_file_has_its_size_from_its_first_byte_on(disk: Disk) -> None:
    disk.write("a/b", 3, b"xyz", 10)

    assert (disk.root / "a/b").read_bytes() == b"\0\0\0xyz\0\0\0\0"
    assert disk.read("a/b", 4, 3) == b"yz\0"
    assert disk.read("a/b", 9, 9) == b"\0"
    assert disk.read("a/c", 0, 9) == b""
    assert not (disk.root / "a/c").exists()


def test_few_files_stay_open(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_FILES", 2)
    for number in range(5):
        disk.write(str(number), 0, b"%d" % number, 1)
    disk.flush()

    assert [disk.read(str(number), 0, 1) for number in range(5)] == [b"0", b"1", b"2", b"3", b"4"]


def test_the_end_of_a_file_is_replaced_by_zeros(disk: Disk) -> None:
    (disk.root / "a").write_bytes(b"12345")

    disk.clear_from("a", 2)

    assert (disk.root / "a").read_bytes() == b"12\0\0\0"


def test_files_and_folders_are_removed_and_moved(disk: Disk) -> None:
    for name in ("a/1", "a/2", "b", "c"):
        disk.write(name, 0, b"x", 1)

    disk.remove_folder("a")
    disk.remove("b")
    disk.remove("b")
    disk.move("c", "d/e")

    assert [path.name for path in disk.root.rglob("*") if path.is_file()] == ["e"]
    disk.write("b", 0, b"y", 1)
    assert (disk.root / "b").read_bytes() == b"y"


@pytest.mark.parametrize("name", ["{other}", "../other", "a/../../other"])
def test_names_outside_of_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"x")
    disk = Disk(tmp_path / "broker")
    name = name.format(other=other)

    for change in (disk.remove, disk.remove_folder, lambda name: disk.move(name, "b")):
        with pytest.raises(ValueError, match="is not below"):
            change(name)

    assert other.read_bytes() == b"x"


def test_the_old_file_is_kept_under_a_second_name(disk: Disk) -> None:
    for text in (b"1", b"2", b"3"):
        disk.replace("config/a.json", text)

    assert {path.name: path.read_bytes() for path in (disk.root / "config").iterdir()} == {
        "a.json": b"3",
        "a.json.bak": b"2",
    }


def test_a_file_gets_the_time_of_its_last_message(disk: Disk) -> None:
    disk.write("a", 0, b"x", 1)

    disk.set_time("a", 1_700_000_000_000)

    assert (disk.root / "a").stat().st_mtime == 1_700_000_000
