"""Commands about stores that need no server: files of compacted topics and of RocksDB."""

import argparse
import json
from pathlib import Path

import pytest

from rocketwire.client.admin import RocksDBConfig
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from rocketwire_tools.admin.commands.brokers import identity, rocksdb_configs
from tests.support.admin_in_process import run


def message(number: int) -> bytes:
    properties = {"KEYS": f"k{number}"}
    return encode_stored_message(
        StoredMessage(topic="compacted", queue_id=number, body=b"x", properties=properties)
    )


def test_messages_of_a_compacted_topic_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "00000000000000000000"
    file.write_bytes(message(1) + message(2) + bytes(100))
    result = run("dumpCompactionLog", "-f", str(file), "-o", "json")

    assert (result.status, result.complaint) == (0, "")
    rows = json.loads(result.out)
    assert [(row["queueId"], row["keys"]) for row in rows] == [(1, "k1"), (2, "k2")]


def test_missing_or_broken_file_is_an_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes((8).to_bytes(4, "big") + b"mess")
    for file, status in ((tmp_path / "none", 2), (broken, 1)):
        result = run("dumpCompactionLog", "-f", str(file))
        assert (result.status, str(file) in result.complaint) == (status, True)


def test_local_rocksdb_is_not_read() -> None:
    export = run("exportMetadataInRocksDB", "-p", "/store/config", "-t", "topics", "-j", "true")
    local = run("rocksDBConfigToJson", "-n", "127.0.0.1:1", "-p", "/store/config", "-t", "topics")
    without = run("rocksDBConfigToJson", "-n", "127.0.0.1:1")

    assert (export.status, local.status, without.status) == (1, 2, 2)
    for result in (export, local):
        assert "rocksDBConfigToJson -b" in result.complaint


def test_kinds_of_configuration_are_read_in_any_case() -> None:
    assert rocksdb_configs("TOPICS; consumerOffsets;") == (
        RocksDBConfig.TOPICS,
        RocksDBConfig.CONSUMER_OFFSETS,
    )
    with pytest.raises(argparse.ArgumentTypeError, match="users"):
        rocksdb_configs("topics;users")


def test_a_broker_of_a_container_is_named_by_cluster_name_and_id() -> None:
    assert identity("cluster:broker-a:0") == ("cluster", "broker-a", 0)
    for text in ("broker-a:0", "c:b:-1", "c:b:", "::0"):
        with pytest.raises(argparse.ArgumentTypeError, match="CLUSTER:BROKER:ID"):
            identity(text)
