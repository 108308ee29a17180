"""Files are read as Java reads them, and replaced in one step with the text before them kept."""

import errno
import os
from pathlib import Path

import pytest

from rocketwire_namesrv.routes.kv_config import KVConfig
from rocketwire_namesrv.runtime.storage import StorageError, kv_document, load_kv, save


def load_content(folder: Path, content: bytes) -> dict[str, dict[str, str | None]]:
    path = folder / "kvConfig.json"
    path.write_bytes(content)
    return load_kv(str(path))


def test_missing_kv_file_is_an_empty_table(tmp_path: Path) -> None:
    assert load_kv(str(tmp_path / "kvConfig.json")) == {}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        *((content, {}) for content in (b"", b"null", b'""', b'"null"')),
        (b'{"configTable":{"ns":{"k":"v"},"x":{}}}', {"ns": {"k": "v"}, "x": {}}),
        (b'{"configTable":{}}', {}),
        (
            b'{"other":[1],"configTable":{"ns":{"k":1,"b":true,"f":1.25}}}',
            {"ns": {"k": "1", "b": "true", "f": "1.25"}},
        ),
        (b'\xef\xbb\xbf{"configTable":{"ns":{"k":"v"}}}', {"ns": {"k": "v"}}),
        (b'{"configTable":{"ns":{"k":{"a":[1,"x"]}}}}', {"ns": {"k": '{"a":[1,"x"]}'}}),
        (b'{"configTable":{"ns":{"k":null},"none":null}}', {"ns": {"k": None}}),
        (b"{'configTable':{'ns':{'k':'v'},},}", {"ns": {"k": "v"}}),
        (b'{"configTable":{"ns":{"k":"\xff"}}}', {"ns": {"k": "\ufffd"}}),
        (b'{"configTable":{"ns":{"k":"\xed\xa0\x80"}}}', {"ns": {"k": "\ufffd"}}),
        (b'\xef\xbb\xbf\0\n\0{"configTable":{"ns":{"k":"v"}}}\0', {"ns": {"k": "v"}}),
        (b'{"configTable":{"ns":"","m":"null","o":{}}}', {"o": {}}),
        (b'{"configTable":{"ns":[{"k":1.10,"l":null}]}}', {"ns": {"k": "1.10", "l": None}}),
        (
            b'{"configTable":{"ns":{"$ref":"x"},"$ref":{"a":"b"}}}',
            {"ns": {"$ref": "x"}, "$ref": {"a": "b"}},
        ),
    ],
)
def test_kv_file(
    tmp_path: Path, content: bytes, expected: dict[str, dict[str, str | None]]
) -> None:
    assert load_content(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.10", "1.10"),
        ("-1.50", "-1.50"),
        ("0.0000001", "1E-7"),
        ("100000000.5", "100000000.5"),
        ("123456789.123456789123456789", "123456789.123456789123456789"),
        ("1e3", "1000.0"),
        ("1E+2", "100.0"),
        ("1.5e400", "Infinity"),
        ("-1.5e400", "-Infinity"),
        ("-0", "0"),
        ("-0.0", "0.0"),
        ("123L", "123"),
        ("1.0F", "1.0"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("true", "true"),
        ('{"b":1,"a":[1,2.50,null,true]}', '{"b":1,"a":[1,2.50,null,true]}'),
        ('{"a":1e3}', '{"a":1000.0}'),
        ('{"z":null}', "{}"),
        ("[1.10]", "[1.10]"),
        ('["x"]', "x"),
        ("[null]", None),
        ('{"$ref":"$"}', '{"$ref":"$"}'),
        ('{"$ref":"$","a":1.10}', '{"$ref":"$","a":1.10}'),
    ],
)
def test_text_of_another_value(tmp_path: Path, value: str, text: str | None) -> None:
    content = f'{{"configTable":{{"ns":{{"k":{value}}}}}}}'.encode()

    assert load_content(tmp_path, content) == {"ns": {"k": text}}


@pytest.mark.parametrize("reference", ["$", "$.configTable.ns", "@", ".."])
def test_item_named_like_a_reference_survives_a_restart(tmp_path: Path, reference: str) -> None:
    table = {"ns": {"$ref": reference}}

    assert load_content(tmp_path, kv_document(table)) == table


def test_a_name_that_needed_no_quotes_in_the_file_gets_them(tmp_path: Path) -> None:
    table = load_content(tmp_path, b'{"configTable":{null:{1:"v"}}}')

    assert kv_document(KVConfig(table).document()) == b'{"configTable":{"null":{"1":"v"}}}'


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b'{"configTable":null}',
        b'{"configTable":[1]}',
        b'{"configTable":{"ns":"v"}}',
        b"[]",
        b"12",
        b"{",
        b"garbage",
        b"  \n",
        b"\0\0\0",
        b"\n\0 ",
        b'{"configTable":""}',
        b'{"configTable":[{"ns":{"k":"v"}}]}',
        b'{"configTable":{"ns":[]}}',
        b'{"configTable":{"ns":[{},{}]}}',
        b'{"configTable":{"ns":{"k":NaN}}}',
        b'{"configTable":{"ns":{"k":0x1F}}}',
        b'{"configTable":{"ns":{"k":+5}}}',
        b"{configTable:{}}",
        b'{"configTable":{},,}',
        b'{"configTable":{}/**/}',
    ],
)
def test_a_kv_file_without_sense_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(StorageError, match=r"kvConfig\.json"):
        load_content(tmp_path, content)


def test_a_kv_file_that_cannot_be_read_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        load_kv(str(tmp_path))


def test_the_kv_document_is_that_of_java() -> None:
    table = {"ns": {"k": 'a"b\n/é漢\u2028', "": ""}, "x": {}}

    assert kv_document(table) == (
        '{"configTable":{"ns":{"k":"a\\"b\\n/é漢\u2028","":""},"x":{}}}'.encode()
    )


def test_the_first_save_makes_the_folders_and_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "kv.json"

    save(str(path), b"one")

    assert path.read_bytes() == b"one"
    assert os.listdir(path.parent) == ["kv.json"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_next_save_keeps_the_text_before_it(tmp_path: Path) -> None:
    path = tmp_path / "kv.json"
    path.write_bytes(b"one")
    path.chmod(0o640)

    save(str(path), b"two")
    save(str(path), b"three")

    assert path.read_bytes() == b"three"
    assert (tmp_path / "kv.json.bak").read_bytes() == b"two"
    assert sorted(os.listdir(tmp_path)) == ["kv.json", "kv.json.bak"]
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.json"
    target.write_bytes(b"one")
    link = tmp_path / "kv.json"
    link.symlink_to(target)

    save(str(link), b"two")

    assert link.is_symlink()
    assert target.read_bytes() == b"two"


def test_mount_point_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kv.json"
    path.write_bytes(b"a longer text")

    def busy(*_: object) -> None:
        raise OSError(errno.EBUSY, "mount point")

    monkeypatch.setattr(os, "rename", busy)
    save(str(path), b"two")

    assert path.read_bytes() == b"two"
    assert (tmp_path / "kv.json.bak").read_bytes() == b"a longer text"


@pytest.mark.parametrize("step", ["write", "rename"])
def test_failed_save_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "kv.json"
    path.write_bytes(b"one")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync" if step == "write" else "rename", full)
    with pytest.raises(OSError, match="no space"):
        save(str(path), b"two")

    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["kv.json"]
