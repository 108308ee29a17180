"""Option ``columns``."""

from rocketwire_tools.spark.topics.options import KAFKA, ROCKETMQ, columns_of


def test_it_is_a_form_or_a_list() -> None:
    assert columns_of("rocketmq") == ROCKETMQ
    assert columns_of("kafka") == KAFKA
    assert list(columns_of("body, queueId").items()) == [("body", "binary"), ("queueId", "int")]
