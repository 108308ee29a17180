"""Stores of real brokers in a running Spark: the rows of the command and of the brokers, once."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.stores.columns import default_columns
from tests.peers.peers import CURRENT, MIDDLE, OLD
from tests.spark.store_questions import Disk, find_zeroed, gaps, repeats, usage
from tests.support.file_programs import call_store
from tests.support.stores import copy_store
from tests.support.stores.damage import log_files, put, zero_page
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.support.stores import BrokerStore

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "store-spark.md"
FLEET = [
    (CURRENT, "features"),
    (CURRENT, "inner"),
    (CURRENT, "plain"),
    (MIDDLE, "plain"),
    (OLD, "features"),
    (OLD, "plain"),
]
COLUMNS = tuple(default_columns())
pq: Any = importlib.import_module("pyarrow.parquet")


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stores of several brokers."""
    folder = tmp_path_factory.mktemp("fleet") / "disks"
    for release, kind in FLEET:
        unpack(release, kind, folder / f"{kind}-{release}")
    return folder


def read(spark: SparkSession, path: Path, **options: str) -> DataFrame:
    return spark.read.format("rocketmq-store").options(**options).load(str(path))


def sort_rows(rows: list[dict[str, Any]]) -> list[Any]:
    """Sorted rows whose values have the same classes from Spark and from Arrow."""

    def convert(name: str, value: Any) -> Any:
        if name.endswith("_timestamp"):
            return value.timestamp()
        if name == "body":
            return None if value is None else bytes(value)
        return sorted(dict(value).items()) if name == "properties" else value

    return sorted(([convert(name, value) for name, value in row.items()] for row in rows), key=str)


def of_spark(frame: DataFrame) -> list[Any]:
    return sort_rows([row.asDict() for row in frame.collect()])


def of_command(root: Path, out: Path, *arguments: str) -> list[dict[str, Any]]:
    columns = ",".join(name for name in COLUMNS if name != "store")
    call_store("export", "--columns", columns, *arguments, "-o", out, root)
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return [row | {"store": str(root)} for row in rows]


@pytest.mark.full
def test_damage_costs_only_its_messages_or_an_error(spark: SparkSession, tmp_path: Path) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "store").root
    zero_page(root)
    expected = of_command(root, tmp_path / "x.parquet")

    frame = read(spark, root, splitSize="50k", mode="dropmalformed")

    assert of_spark(frame) == sort_rows(expected)
    with pytest.raises(Exception, match=r"DamageError: commitlog/\d+ at byte \d+: \w+ of \d+"):
        read(spark, root, mode="failfast").count()
    with pytest.raises(Exception, match="unknown option 'nonsense'; the options are path, "):
        read(spark, root, nonsense="1")
    with pytest.raises(Exception, match="FileNotFoundError: /no/store: there is no such file"):
        read(spark, Path("/no/store")).count()


@pytest.fixture
def fleet(tmp_path: Path) -> list[Disk]:
    """Damaged stores of all releases, and of a slave.

    A page of two stores is lost, and a producer has sent a message of another store twice.
    """
    disks: list[Disk] = []
    for release, kind in FLEET:
        store = unpack(release, kind, tmp_path / "disks" / f"{kind}-{release}")
        if kind == "plain" and release != CURRENT:
            undamaged = copy_store(store.root, tmp_path / "undamaged" / release)
            zero_page(store.root)
            disks.append(Disk(store, find_zeroed(store.root, undamaged)))
        else:
            disks.append(Disk(with_a_repeat(store) if kind == "plain" else store))
    master = unpack(OLD, "slave", tmp_path / "disks" / "master")
    assert master.slave is not None
    slave = copy_store(master.slave.root, tmp_path / "disks" / "slave" / "store")
    return [*disks, Disk(master), Disk(replace(master.slave, root=slave))]


def with_a_repeat(store: BrokerStore) -> BrokerStore:
    """Give a message the unique key of another one, as if its producer had sent that again."""
    first, second = [sent for sent in store.truth.sent if sent.topic == "orders"][3:5]
    place = int(second.offset_msg_id[-16:], 16)
    file = next(file for file in reversed(log_files(store.root)) if int(file.name) <= place)
    key = file.read_bytes().index(second.unique_key.encode(), place - int(file.name))
    put(file, key, first.unique_key.encode())
    repeated = replace(second, unique_key=first.unique_key)
    sent = tuple(repeated if message is second else message for message in store.truth.sent)
    return replace(store, truth=replace(store.truth, sent=sent))


def test_code_of_the_guide_gives_the_answers_of_the_brokers(
    spark: SparkSession, fleet: list[Disk], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    answers: list[list[dict[str, Any]]] = []
    blocks = re.findall(
        r"^```(py|sql)\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    for language, code in blocks:
        code = re.sub(r"(['\"])(disks|out)/", rf"\1{tmp_path}/\2/", code)
        if language == "py":
            exec(code, names)
        else:
            answers.append([row.asDict() for row in spark.sql(code).collect()])

    topics, repeated, missing = answers
    used = usage(fleet)
    assert {
        row["topic"]: (row["messages"], row["bytes"] if used[row["topic"]][1] >= 0 else -1)
        for row in topics
    } == used
    assert topics == sorted(topics, key=lambda row: -row["bytes"])
    assert {(row["topic"], row["msg_id"]): row["times"] for row in repeated} == repeats(fleet)
    assert {
        (row["store"], row["topic"], row["queue_id"]): row["missing"] for row in missing
    } == gaps(fleet)
    assert all((repeated, missing))
    assert "tags" in capfd.readouterr().out
