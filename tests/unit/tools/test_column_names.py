"""A part of a message has one name in all tools, in camel case or in snake case."""

import re

from rocketwire_tools.pcap.rows import rows as captures
from rocketwire_tools.spark.topics import options as topics
from rocketwire_tools.store.formats import arrow_rows as stores


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def test_columns_of_topics_are_columns_of_stores() -> None:
    names = {snake_case(name) for name in topics.ROCKETMQ if name != "brokerName"}
    assert names <= stores.TYPES.keys()


def test_columns_of_queues_are_named_the_same_in_captures() -> None:
    assert {"topic", "queue_id"} <= stores.TYPES.keys() & captures.COLUMNS.keys()
