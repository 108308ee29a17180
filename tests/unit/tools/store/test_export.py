"""Exported messages are those that the broker sent to its clients."""

import base64
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from rocketwire_tools.pcap.arrow import pa
from tests.peers.peers import CURRENT
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, digest
from tests.support.stores.damage import log_files, places, put
from tests.support.stores.fixtures import unpack
from tests.support.virtual_disk import VirtualDisk

ALL_COLUMNS = (
    "file,commit_log_offset,store_size,topic,queue_id,queue_offset,tags,keys,msg_id,offset_msg_id,"
    "born_timestamp,store_timestamp,born_host,store_host,flag,sys_flag,compression,transaction,"
    "prepared_transaction_offset,reconsume_times,body_length,body,properties,kind,real_topic,"
    "real_queue_id,batch_index,version,crc_ok,state"
)
BORN_TIMESTAMP = 40
"""Its first byte in a message."""
pq: Any = importlib.import_module("pyarrow.parquet")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.parquet"


def table(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]]
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        with pa.memory_map(str(path)) as file:
            rows = pa.ipc.open_file(file).read_all().to_pylist()
    for row in rows:
        row["properties"] = dict(row["properties"])
    return rows


def test_json_lines_hold_every_message_that_was_pulled(intact: BrokerStore) -> None:
    sent = {message.offset_msg_id: message for message in intact.truth.sent}

    rows = run_store("export", intact.root).lines

    assert len(rows) == len(intact.truth.pulled)
    for row, message in zip(rows, intact.truth.pulled, strict=True):
        assert row["commit_log_offset"] == message.physical_offset
        assert row["queue_offset"] == message.queue_offset
        assert row["topic"] == message.topic
        assert row["properties"] == message.properties
        assert row["born_host"] == message.born_host
        assert row["store_timestamp"] == message.store_timestamp
        assert digest(base64.b64decode(row["body"])) == sent[row["offset_msg_id"]].body_digest


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "feather"])
def test_column_files_equal_json_lines(suffix: str, intact: BrokerStore, tmp_path: Path) -> None:
    lines = run_store("export", "--columns", ALL_COLUMNS, intact.root).lines
    out = tmp_path / f"out.{suffix}"

    run_store("export", "--columns", ALL_COLUMNS, "-o", out, intact.root)

    rows = table(out)
    for row in rows:
        for name in ("born_timestamp", "store_timestamp"):
            row[name] = round(row[name].timestamp() * 1000)
        row["body"] = None if row["body"] is None else base64.b64encode(row["body"]).decode()
    assert rows == lines


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_time_that_no_calendar_has_is_null_in_files_of_columns(suffix: str, tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "source").root
    first = places(log_files(root)[0])[:3]
    for place, time in zip(first, (1 << 62, -1, 253_402_300_799_999), strict=True):
        put(place.file, place.position + BORN_TIMESTAMP, time.to_bytes(8, "big", signed=True))

    run_store("export", "-o", tmp_path / f"out.{suffix}", root)

    times = [row["born_timestamp"] for row in table(tmp_path / f"out.{suffix}")]
    assert times[:2] == [None, None]
    assert None not in times[2:]
    assert times[2].year == 9999


@pytest.mark.parametrize("compression", ["none", "snappy", "lz4", "zstd"])
def test_parquet_has_chosen_compression(compression: str, store: BrokerStore, out: Path) -> None:

    run_store("export", "--compression", compression, "-o", out, store.root)

    group = pq.ParquetFile(out).metadata.row_group(0)
    names = {group.column(number).compression for number in range(group.num_columns)}
    assert names == {"UNCOMPRESSED" if compression == "none" else compression.upper()}


def test_only_the_chosen_messages_and_columns_are_written(store: BrokerStore, out: Path) -> None:

    options = ("--topic", "ledger", "--columns", "queue_offset, tags")
    run_store("export", "-o", out, *options, store.root)

    assert pq.read_table(out).to_pylist() == [
        {"queue_offset": message.queue_offset, "tags": message.properties.get("TAGS")}
        for message in store.truth.queue("ledger", 0).messages
    ]


def test_file_without_messages_has_the_columns(store: BrokerStore, out: Path) -> None:

    run_store("export", "-o", out, "--end", "2020-01-01", "--columns", "topic,body", store.root)

    assert pq.read_table(out).schema.names == ["topic", "body"]
    assert pq.read_table(out).num_rows == 0


def damage(store: BrokerStore, offset: int, data: bytes) -> None:
    """Overwrite bytes of the log."""
    put(store.root / "commitlog" / f"{offset - offset % 262144:020d}", offset % 262144, data)


def test_damage_is_skipped_and_counted(store: BrokerStore, out: Path) -> None:
    first, last = store.truth.pulled[20], store.truth.pulled[25]
    end = last.physical_offset + 10
    damage(store, first.physical_offset, bytes(end - first.physical_offset))

    answer = run_store("export", "--json", "-o", out, store.root, status=1)

    intact = [*store.truth.pulled[:20], *store.truth.pulled[26:]]
    assert [row["commit_log_offset"] for row in table(out)] == [
        message.physical_offset for message in intact
    ]
    assert json.loads(answer.err) == {
        "messages": len(intact),
        "broken_messages": 0,
        "damaged_regions": 1,
        "damaged_bytes": last.physical_offset + last.size - first.physical_offset,
    }
    assert "skipped 1 damaged regions" in run_store("export", store.root, status=1).err


def test_message_with_a_wrong_checksum_is_only_written_on_request(store: BrokerStore) -> None:
    broken = store.truth.pulled[7]
    damage(store, broken.physical_offset + 88, b"?")

    answer = run_store("export", store.root, status=1)
    columns = "commit_log_offset,crc_ok"
    rows = run_store("export", "--broken", "--columns", columns, store.root).lines

    assert "skipped 1 with a wrong checksum" in answer.err
    assert broken.physical_offset not in {row["commit_log_offset"] for row in answer.lines}
    assert len(rows) == len(store.truth.pulled)
    assert [row["commit_log_offset"] for row in rows if not row["crc_ok"]] == [
        broken.physical_offset
    ]


@pytest.mark.parametrize("form", ["text", "hex"])
def test_bodies_have_the_chosen_form(form: str, store: BrokerStore) -> None:
    data = (store.root / "commitlog" / f"{0:020d}").read_bytes()
    first = store.truth.pulled[0]
    body = data[88 : 88 + first.body_size]

    row = run_store("export", "--body", form, "--columns", "body", store.root).lines[0]

    assert row == {"body": body.hex() if form == "hex" else body.decode()}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("-o", "out.csv"), "give --format"),
        (("--columns", "nothing"), "no column 'nothing'"),
        (("--columns", "topic,topic"), "named twice"),
    ],
)
def test_wrong_request_writes_nothing(
    arguments: tuple[str, ...],
    text: str,
    store: BrokerStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    answer = run_store("export", *arguments, store.root, status=2)

    assert text in answer.err
    assert not list(tmp_path.iterdir())


def test_file_that_exists_is_not_overwritten(store: BrokerStore, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine")

    assert "overwrites nothing" in run_store("export", "-o", out, store.root, status=2).err
    assert out.read_text() == "mine"


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    intact: BrokerStore, tmp_path: Path
) -> None:
    with VirtualDisk(tmp_path) as disk:
        disk.on_sync = lambda: (tmp_path / "out.jsonl").write_text("mine")
        answer = run_store("export", "-o", tmp_path / "out.jsonl", intact.root, status=2)

    assert answer.err.endswith("out.jsonl: file exists\n")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.jsonl": "mine"}


@pytest.mark.parametrize("name", ["out.jsonl", "out/"])
def test_an_export_survives_a_crash(name: str, intact: BrokerStore, tmp_path: Path) -> None:
    with VirtualDisk(tmp_path) as disk:
        run_store("export", "--format", "jsonl", "-o", f"{tmp_path}/{name}", intact.root)
        files = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl") if path.is_file()}
        disk.crash()

    assert files
    assert {path: path.read_bytes() for path in files} == files
