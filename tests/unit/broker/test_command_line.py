"""The options of the commands."""

import re
from pathlib import Path
from typing import Any

import pytest

from rocketwire.errors import IllegalValueError
from rocketwire.serving.tls.settings import TlsMode
from rocketwire_broker.command_line import (
    broker_configs,
    broker_parser,
    main_parser,
    read_options,
    read_topics,
)
from rocketwire_broker.config import ANY_STATUS_PORT, Config


def options(text: str) -> Config:
    return read_options(main_parser().parse_args(text.split()))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dev", "listen_port=10911 broker_ip=127.0.0.1 namesrv_addr="),
        ("broker --host 0.0.0.0 --advertise 10.0.0.1", "bind_address=0.0.0.0 broker_ip=10.0.0.1"),
        ("dev --advertise 10.0.0.1", "broker_ip=10.0.0.1 advertised_port=0"),
        ("dev --advertise a.b:80", "broker_ip=a.b advertised_port=80"),
        ("dev --advertise ::1", "broker_ip=::1 advertised_port=0"),
        ("dev --advertise [::1]:8", "broker_ip=[::1] advertised_port=8"),
        ("dev --host 0.0.0.0", "bind_address=0.0.0.0 broker_ip=127.0.0.1"),
        ("dev --host ::", "bind_address=:: broker_ip=127.0.0.1"),
        ("dev", f"observe_address=127.0.0.1 observe_port={ANY_STATUS_PORT}"),
        ("dev --status-port 0", "observe_address=127.0.0.1 observe_port=0"),
        ("dev --status-port -1", "observe_address=127.0.0.1 observe_port=-1"),
        ("dev --status-port 10.0.0.1:80", "observe_address=10.0.0.1 observe_port=80"),
        ("dev --status-port [::]:80", "observe_address=:: observe_port=80"),
        ("dev --store s --retain-bytes 7", "store_path=s store_retain_bytes=7"),
        ("dev --store s", "store_path=s store_retain_bytes=0"),
    ],
)
def test_options_set_the_configuration(text: str, expected: str) -> None:
    config = options(text)
    names = re.findall(r"(\w+)=", expected)

    assert " ".join(f"{name}={getattr(config, name)}" for name in names) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("--retain-bytes -1", "positive"),
        ("--retain-bytes 0", "positive"),
        ("--retain-hours nan", "positive"),
        ("--advertise a:b", "--advertise a:b: must be ADDRESS"),
        ("--advertise a:b:c", "--advertise a:b:c: must be ADDRESS"),
        ("--advertise a:b:1", "--advertise a:b:1: must be ADDRESS"),
        ("--advertise ::1:x", "--advertise ::1:x: must be ADDRESS"),
        ("--status-port x", "--status-port x"),
    ],
)
def test_options_that_make_no_sense_are_errors(text: str, reason: str) -> None:
    with pytest.raises(IllegalValueError, match=reason):
        options(f"dev {text}")


def test_options_go_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("listenPort=1\nbrokerName=b\nodd=1\nnamesrvAddr=c:1\n")
    words = ["-c", str(file), "--broker-port", "0", "-n", "a:1;b:2", "--host", "127.0.0.2"]

    config, unknown = read_options(broker_parser().parse_args(words))

    assert (config.listen_port, config.broker_name) == (0, "b")
    assert (config.namesrv_addr, unknown) == ("a:1;b:2", ["odd"])
    assert (config.bind_address, config.broker_ip) == ("127.0.0.2", "127.0.0.2")


def test_name_servers_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "a:1")
    (tmp_path / "broker.conf").write_text("namesrvAddr=b:1\n")
    file = ["-c", str(tmp_path / "broker.conf")]

    for words, address in (([], "a:1"), (file, "b:1"), ([*file, "-n", "c:1"], "c:1")):
        assert read_options(broker_parser().parse_args(words))[0].namesrv_addr == address


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("listenPort=abc", "listenPort=abc: must be a whole number"),
        ("fileReservedTime=x", "fileReservedTime=x: must be a number"),
        ("timerWheelEnable=yes", "timerWheelEnable=yes: must be true or false"),
    ],
)
def test_an_invalid_property_is_named_with_its_file(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "broker.conf"
    file.write_text(line)

    with pytest.raises(IllegalValueError) as raised:
        read_options(broker_parser().parse_args(["-c", str(file)]))

    assert str(raised.value) == f"{file}: {reason}"


def test_tls_of_file_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "broker.conf"
    file.write_text("tls.server.certPath=c.pem\ntls.test.mode.enable=false\ntls.enable=true\n")
    monkeypatch.setenv("JAVA_OPT", "-Dtls.server.mode=disabled -Dtls.server.keyPath=k.pem")
    words = ["broker", "-c", str(file)]

    config, unknown = read_options(main_parser().parse_args(words))
    enforced, _ = read_options(main_parser().parse_args([*words, "--tls", "enforcing"]))

    assert (config.tls.cert_path, config.tls.key_path) == ("c.pem", "k.pem")
    assert (config.tls.mode, config.tls.test_mode) == (TlsMode.DISABLED, False)
    assert config.use_tls
    assert enforced.tls.mode is TlsMode.ENFORCING
    assert unknown == []


@pytest.mark.parametrize(
    ("text", "brokers"),
    [
        (None, [("broker-a", 0, 10911, "store")]),
        ("1", [("broker-a", 0, 10911, "store/broker-a")]),
        ("2", [("broker-a", 0, 10911, "store/broker-a"), ("broker-b", 0, 10921, "store/broker-b")]),
        ("x, y", [("x", 0, 10911, "store/x"), ("y", 0, 10921, "store/y")]),
        ("x:0,x:1", [("x", 0, 10911, "store/x"), ("x", 1, 10921, "store/x-1")]),
    ],
)
def test_several_brokers(text: str | None, brokers: list[tuple[str, int, int, str]]) -> None:
    configs = broker_configs(Config(store_path="store"), text)

    assert [
        (config.broker_name, config.broker_id, config.listen_port, config.store_path)
        for config in configs
    ] == brokers


def test_several_brokers_without_a_folder_on_free_ports() -> None:
    configs = broker_configs(Config(listen_port=0, broker_name="mine"), "2")

    assert [(config.broker_name, config.listen_port) for config in configs] == [
        ("mine-a", 0),
        ("mine-b", 0),
    ]
    assert [config.store_path for config in configs] == ["", ""]


@pytest.mark.parametrize("text", ["0", "27", "99999999999999999999", "a,a", "a,", "a:x", ""])
def test_other_lists_of_brokers_are_errors(text: str) -> None:
    with pytest.raises(IllegalValueError, match="--brokers"):
        broker_configs(Config(), text)


def test_topics_are_read_from_a_table() -> None:
    topics = read_topics({"topics": {"orders": {"queues": 8, "order": True}, "plain": {}}})

    assert [(topic.topic_name, topic.read_queue_nums, topic.order) for topic in topics] == [
        ("orders", 8, True),
        ("plain", 4, False),
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"topics": 1}, "topics: must be a table"),
        ({"topics": {"a": 1}}, "topics.a: must be a table"),
        ({"topics": {"a": {"queues": "x"}}}, "topics.a.queues: must be a number"),
        ({"topics": {"a": {"odd": 1}}}, "topics.a: unknown odd; there are queues, perm and order"),
    ],
)
def test_other_tables_are_errors(data: dict[str, Any], text: str) -> None:
    with pytest.raises(IllegalValueError, match=text):
        read_topics(data)
