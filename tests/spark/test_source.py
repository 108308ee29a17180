"""The data source in a running Spark: the rows of the command, once, wherever files are cut."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.guide import blocks, captures
from tests.support.captures.decoded_rows import rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from tests.support.captures.fixtures import Made

# PySpark leaves sockets to the collector
pytestmark = [pytest.mark.java, pytest.mark.filterwarnings("default")]

Content = Counter[tuple[Any, ...]]


def of_frames(frames: DataFrame) -> Content:
    return Counter(tuple(row.asDict().values()) for row in frames.collect())


def read(spark: SparkSession, **options: str) -> DataFrame:
    return spark.read.format("rocketmq-pcap").options(**options).load()


def test_schema_and_filters_choose_what_is_decoded(spark: SparkSession, sample: Made) -> None:
    path = sample.path
    frame = (
        spark.read.format("rocketmq-pcap")
        .schema("opaque int, code int")
        .load([str(path)])
        .where("code = 310 and opaque > 0")
    )
    expected = Counter(
        (row["opaque"], row["code"])
        for row in rows(path)
        if row["code"] == 310 and row["opaque"] > 0
    )
    assert expected == of_frames(frame)


def test_sql_reads_a_capture_and_a_bad_one_is_named_or_skipped(
    spark: SparkSession, sample: Made, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(sample.path.read_bytes()[:100_000] + b"\xff" * 200_000)
    using = "CREATE OR REPLACE TEMPORARY VIEW capture USING `rocketmq-pcap` OPTIONS (path '{}', badFile '{}')"
    spark.sql(using.format(bad, "skip"))
    count = spark.sql("SELECT count(*) FROM capture").collect()[0][0]
    assert 0 < count < len(sample.truth)
    spark.sql(using.format(bad, "fail"))
    with pytest.raises(Exception, match=r"bad\.pcap at byte \d+: a record claims"):
        spark.sql("SELECT count(*) FROM capture").collect()
    with pytest.raises(Exception, match="unknown option 'nonsense'"):
        read(spark, path=str(bad), nonsense="1")


def test_code_of_the_guide_answers_its_questions(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    captures(tmp_path)
    names: dict[str, Any] = {}
    answers: list[list[dict[str, Any]]] = []
    queries: list[str] = []
    for language, code in blocks(tmp_path):
        if language == "py":
            exec(code, names)
        else:
            assert names["spark"].conf.get("spark.sql.shuffle.partitions") == "4"
            queries.append(code)
            answers.append([row.asDict() for row in spark.sql(code).collect()])
    slow, missing, versions, storms, unanswered, _ = answers
    assert {"topic", "answers", "median_ms", "p99_ms"} == set(slow[0])
    assert slow == sorted(slow, key=lambda row: -row["p99_ms"])[:10]
    all_topics = spark.sql(queries[0].replace(" LIMIT 10", "")).collect()
    assert [3.0] == [row["median_ms"] for row in all_topics if row["topic"] == "missing"]
    assert missing[0] == {"client": "10.7.7.7", "topic": "missing", "times": 12}
    assert "JAVA" in {row["language"] for row in versions}
    assert ("10.7.7.7", 9876, 1_760_000_000, 13) == tuple(storms[0].values())
    assert {
        "code_name": "GET_ROUTEINFO_BY_TOPIC",
        "topic": "missing",
        "server": "10.9.0.9",
        "unanswered": 1,
    } in unanswered
    assert 310 in {row["code"] for row in names["codes"].collect()}
    assert "topic" in capfd.readouterr().out
