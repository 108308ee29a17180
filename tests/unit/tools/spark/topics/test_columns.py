"""Option ``columns``."""

from __future__ import annotations

import pytest

from rocketwire_tools.spark.topics.columns import KAFKA, ROCKETMQ, columns_of


def test_it_is_a_form_or_a_list() -> None:
    assert columns_of("rocketmq") == ROCKETMQ
    assert columns_of("kafka") == KAFKA
    assert list(columns_of("body, queueId").items()) == [("body", "binary"), ("queueId", "int")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a list of columns"),
        ("body,body", "'body,body' is not a list"),
        ("body,payload", "no column 'payload'; use rocketmq, kafka, or some of topic, brokerName"),
    ],
)
def test_other_columns_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns_of(text)
