"""Stores of real brokers in a running Spark: the rows of the command and of the brokers, once."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.spark.stores.columns import default_columns
from rocketwire_tools.store.__main__ import main
from tests.spark.streams import run_to_end
from tests.support.java.peers import CURRENT, OLD
from tests.support.stores.damage import log_files, places, put, zero_page
from tests.support.stores.fixtures import unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.filterwarnings("default")]

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "store-spark.md"
FLEET = [(CURRENT, "features"), (CURRENT, "inner"), (CURRENT, "plain"), (OLD, "plain")]
COLUMNS = tuple(default_columns("messages"))
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


def comparable(rows: list[dict[str, Any]]) -> list[Any]:
    """Rows in an order, with what Spark and Arrow have in other classes made equal."""

    def plain(name: str, value: Any) -> Any:
        if name.endswith("_timestamp"):
            return value.timestamp()
        if name == "body":
            return None if value is None else bytes(value)
        return sorted(dict(value).items()) if name == "properties" else value

    return sorted(([plain(name, value) for name, value in row.items()] for row in rows), key=str)


def of_spark(frame: DataFrame) -> list[Any]:
    return comparable([row.asDict() for row in frame.collect()])


def of_command(root: Path, out: Path, *arguments: str) -> list[dict[str, Any]]:
    columns = ",".join(name for name in COLUMNS if name != "store")
    main(["export", "--columns", columns, *arguments, "-o", str(out), str(root)])
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return [row | {"store": str(root)} for row in rows]


def test_a_fleet_has_the_rows_of_the_command_whatever_the_size_of_parts(
    spark: SparkSession, disks: Path, tmp_path: Path
) -> None:
    expected = [
        row
        for number, root in enumerate(disks.glob("*/store"))
        for row in of_command(root, tmp_path / f"{number}.parquet", "--system")
    ]

    for size in ("20k", "1g"):
        frame = read(spark, disks / "*" / "store", system="true", splitSize=size)
        assert of_spark(frame) == comparable(expected)


def test_messages_are_those_that_the_broker_sent(spark: SparkSession, tmp_path: Path) -> None:
    store = unpack(CURRENT, "plain", tmp_path / "store")
    frame = read(spark, store.root, splitSize="50k")

    rows = frame.select("physical_offset", "topic", "queue_id", "queue_offset", "born_host")

    assert sorted(tuple(row.asDict().values()) for row in rows.collect()) == [
        (m.physical_offset, m.topic, m.queue_id, m.queue_offset, m.born_host)
        for m in store.truth.pulled
    ]


@pytest.mark.parametrize(
    "condition",
    [
        "topic = 'orders'",
        "topic IN ('orders', 'bills') AND queue_id = 1",
        "topic = 'orders' AND tags = 'paid'",
        "queue_offset BETWEEN 3 AND 9",
        "physical_offset > 300000",
        "store_timestamp >= (SELECT percentile_approx(store_timestamp, 0.5) FROM every)",
        "topic = 'rmq_sys_wheel_timer' OR topic = 'SCHEDULE_TOPIC_XXXX'",
        "topic = 'SCHEDULE_TOPIC_XXXX'",
    ],
)
def test_pushed_filters_give_the_filtered_rows(
    spark: SparkSession, disks: Path, condition: str
) -> None:
    path = disks / "*" / "store"
    every = read(spark, path)
    every.createOrReplaceTempView("every")
    if "SELECT" in condition:
        middle = spark.sql(condition[condition.index("(") + 1 : -1]).collect()[0][0]
        condition = f"store_timestamp >= timestamp'{middle}'"

    pushed = read(spark, path, pushFilters="true", splitSize="50k").where(condition)

    assert of_spark(pushed) == of_spark(every.where(condition))


def test_a_damaged_store_gives_all_other_messages_or_ends_the_query_with_one_line(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = unpack(CURRENT, "plain", tmp_path / "store").root
    zero_page(root)
    expected = of_command(root, tmp_path / "x.parquet")

    frame = read(spark, root, splitSize="50k", mode="dropmalformed")

    assert of_spark(frame) == comparable(expected)
    assert read(spark, root, table="damage").count() >= 1
    with pytest.raises(Exception, match=r"DamageError: commitlog/\d+ at byte \d+: \w+ of \d+"):
        read(spark, root, mode="failfast").count()
    with pytest.raises(Exception, match="unknown option 'nonsense'; the options are path, "):
        read(spark, root, nonsense="1")
    with pytest.raises(Exception, match="FileNotFoundError: /no/store: there is no such file"):
        read(spark, Path("/no/store")).count()


def test_a_stream_gives_each_message_once_across_restarts(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = unpack(CURRENT, "plain", tmp_path / "store")
    file = log_files(store.root)[-1]
    whole, middle = file.read_bytes(), places(file)[len(places(file)) // 2].position

    def run() -> int:
        stream = spark.readStream.format("rocketmq-store").option("maxBytesPerTrigger", "300k")
        writing = stream.load(str(store.root)).writeStream.format("parquet")
        writing = writing.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writing = writing.trigger(availableNow=True)
        run_to_end(lambda: writing.start(str(tmp_path / "out")))
        return spark.read.parquet(str(tmp_path / "out")).count()

    put(file, middle, bytes(len(whole) - middle))
    first = run()
    put(file, 0, whole)

    assert first < run() == len(store.truth.pulled)
    rows = spark.read.parquet(str(tmp_path / "out")).select("physical_offset").collect()
    assert sorted(row[0] for row in rows) == [m.physical_offset for m in store.truth.pulled]


def test_the_code_of_the_guide_runs_and_its_questions_have_answers(
    spark: SparkSession, disks: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(disks, tmp_path / "disks")
    zero_page(tmp_path / "disks" / f"plain-{OLD}" / "store")
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

    topics, repeated, missing, waiting, damaged = answers
    assert topics == sorted(topics, key=lambda row: -row["bytes"])
    assert "orders" in {row["topic"] for row in topics}
    assert all(row["times"] > 1 for row in repeated)
    assert sum(row["missing"] for row in missing) > 0
    assert waiting
    assert all(row["lag"] > 0 for row in waiting)
    (hole,) = {row["store"] for row in damaged}
    assert f"plain-{OLD}" in hole
    assert all(row["after"] <= row["before"] for row in damaged if row["before"])
    assert "tags" in capfd.readouterr().out
    streamed = spark.read.parquet(str(tmp_path / "out" / "messages"))
    orders = read(spark, tmp_path / "disks" / "*" / "store", topic="orders")
    assert streamed.count() == orders.count() > 0
