"""The options of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rocketwire.errors import IllegalValueError
from rocketwire_broker.command_line import broker_parser, configured, main_parser, read_topics

if TYPE_CHECKING:
    from pathlib import Path


def test_a_broker_for_development_needs_no_option() -> None:
    options = main_parser().parse_args(["dev"])
    config, unknown = configured(options)

    assert (options.port, config.listen_port, config.broker_ip) == (9876, 10911, "127.0.0.1")
    assert (config.namesrv_addr, unknown) == ("", [])


def test_options_go_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("listenPort=1\nbrokerName=b\nodd=1\nnamesrvAddr=c:1\n")
    words = ["-c", str(file), "--broker-port", "0", "-n", "a:1;b:2", "--host", "127.0.0.2"]

    config, unknown = configured(broker_parser().parse_args(words))

    assert (config.listen_port, config.broker_name) == (0, "b")
    assert (config.namesrv_addr, unknown) == ("a:1;b:2", ["odd"])
    assert (config.bind_address, config.broker_ip) == ("127.0.0.2", "127.0.0.2")


def test_clients_may_be_told_another_address() -> None:
    words = ["broker", "--host", "0.0.0.0", "--advertise", "10.0.0.1"]  # noqa: S104 - an option

    config, _ = configured(main_parser().parse_args(words))

    assert (config.bind_address, config.broker_ip) == ("0.0.0.0", "10.0.0.1")  # noqa: S104


def test_topics_are_read_from_a_table() -> None:
    topics = read_topics({"topics": {"orders": {"queues": 8, "order": True}, "plain": {}}})

    assert [(topic.topic_name, topic.read_queue_nums, topic.order) for topic in topics] == [
        ("orders", 8, True),
        ("plain", 4, False),
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"topics": 1}, "topics is not a table"),
        ({"topics": {"a": 1}}, "topics.a is not a table"),
        ({"topics": {"a": {"queues": "x"}}}, "topics.a.queues is not a number"),
        ({"topics": {"a": {"odd": 1}}}, "topics.a: odd is no setting of topics"),
    ],
)
def test_other_tables_are_errors(data: dict[str, Any], text: str) -> None:
    with pytest.raises(IllegalValueError, match=text):
        read_topics(data)
