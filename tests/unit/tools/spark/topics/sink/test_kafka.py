"""Messages of rows with the columns of spark-sql-kafka."""

from typing import Any

import pytest

from rocketwire.client import Message
from rocketwire_tools.spark.topics.sink.attempts import SinkError
from tests.unit.tools.spark.topics.sink.test_rows import rows

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def test_row_keeps_its_key_and_its_headers() -> None:
    header = [
        {"key": "trace", "value": b"0"},
        {"key": "trace", "value": b"1"},
        {"key": "TAGS", "value": b"red"},
        {"key": "UNIQ_KEY", "value": b"of another message"},
        {"key": "empty", "value": None},
        {"key": None, "value": b"2"},
    ]
    columns = {
        "key": pa.array([b"customer-7", None], pa.binary()),
        "value": pa.array([b"\x00\xff", b"b"], pa.binary()),
        "headers": pa.array([header, None], HEADERS),
        "offset": [7, 8],
    }

    assert [row.message for row in rows(columns, of_kafka=True)] == [
        Message(
            "orders",
            b"\x00\xff",
            tags="red",
            keys="customer-7",
            properties={"trace": "1"},
            sharding_key="customer-7",
        ),
        Message("orders", b"b"),
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"value": ["a", None]}, "row 1 of the partition: column 'value' is null: filter such"),
        ({"value": ["a"], "key": [b"\xff"]}, r"row 0 .*: the key is not UTF-8, .* use hex\(key\)"),
        ({"value": ["a"], "headers": pa.array([[{"key": "h", "value": b"\xff"}]], HEADERS)}, "header 'h' is not UTF-8"),
    ],
)  # fmt: skip
def test_row_that_is_no_message_is_an_error(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(SinkError, match=message):
        rows(columns, of_kafka=True)
