"""The check of a frame's columns."""

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.sink.columns import check_columns


def check(*fields: tuple[str, str], **options: bool) -> tuple[str, ...]:
    flags = {"has_topic": True, "stable_ids": False, **options}
    return check_columns(fields, **flags)


def test_columns_get_their_names_in_the_order_of_the_frame() -> None:
    assert check(("BODY", "binary"), ("shardingkey", "string")) == ("body", "shardingKey")


@pytest.mark.parametrize(
    ("fields", "options", "reason"),
    [
        ([("value", "binary")], {}, "column 'value' is unknown; the columns are topic, body, tags, keys, properties, shardingKey, delaySeconds, deliverTimestamp, id: choose columns with select, or set option columns=kafka"),
        ([("value", "binary"), ("partition", "int")], {"of_kafka": True}, "column 'partition': queues belong to brokers, and rows of a key go to one queue: leave"),
        ([("value", "binary"), ("price", "int")], {"of_kafka": True}, "column 'price' is unknown; the columns are topic, key, value, headers, id: choose"),
        ([("body", "binary")], {"of_kafka": True}, "column 'body' is unknown; the columns are topic, key, value, headers, id: choose columns with select, or leave out option columns=kafka"),
        ([("key", "binary")], {"of_kafka": True}, "there is no column 'value', of type binary or string"),
        ([("value", "int")], {"of_kafka": True}, "column 'value' has type int, but must be of type binary or string: use cast"),
        ([("body", "int")], {}, "column 'body' has type int, but must be of type binary or"),
        ([("tags", "string")], {}, "there is no column 'body'"),
        ([("body", "string"), ("Body", "string")], {}, "column 'Body' is there twice"),
        ([("body", "string")], {"has_topic": False}, "there is no topic: set option 'topic'"),
        ([("body", "string"), ("id", "string")], {}, "column 'id' needs option ids=stable"),
        (
            [("body", "string"), ("delaySeconds", "int"), ("deliverTimestamp", "timestamp")],
            {},
            "columns 'delaySeconds' and 'deliverTimestamp': use one of them",
        ),
    ],
)  # fmt: skip
def test_invalid_column_is_refused_by_name(
    fields: list[tuple[str, str]], options: dict[str, bool], reason: str
) -> None:
    with pytest.raises(OptionError) as refused:
        check(*fields, **options)
    assert str(refused.value).startswith(reason)
