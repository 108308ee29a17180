"""Settings have Java's names, defaults and conversions (compared with ``-p`` of a 5.5.0 server)."""

import re

import pytest

from rocketwire.codes import SerializeType
from rocketwire.serving.java_properties import (
    PropertiesFile,
    load_entries,
    load_properties,
    system_properties,
)
from rocketwire_namesrv.config.config import Config, ConfigError
from rocketwire_namesrv.config.settings import Owner

HOME = "/root"


def load(text: str, **environment: str) -> Config:
    entries = load_properties(text.encode())
    return Config.load(entries, home=HOME, config_path="ns.properties", environment=environment)


def test_items_come_in_javas_order_of_declaration() -> None:
    config = Config.load(home=HOME, processors=2)

    names = [name for name, _ in config.items(Owner.NAMESRV, Owner.SERVER, Owner.CLIENT)]
    assert len(names) == 60
    assert names[:3] == ["rocketmqHome", "kvConfigPath", "configStorePath"]
    assert names[22:24] == ["bindAddress", "listenPort"]
    assert dict(config.items(Owner.CLIENT))["clientCallbackExecutorThreads"] == "2"


def test_without_rocketmq_home_the_property_is_null_and_not_shown() -> None:
    config = Config.load(home=HOME)

    assert config.items(Owner.NAMESRV)[0] == ("rocketmqHome", None)
    assert "rocketmqHome" not in config.flat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            (f"serverWorkerThreads={text}", f"server_worker_threads={expected}")
            for text, expected in {
                "7": 7,
                "+7": 7,
                "-7": -7,
                "007": 7,
                "2147483647": 2147483647,
                "-2147483648": -2147483648,
                "9" * 5000: 8,
                **dict.fromkeys(("9x", "9 ", "0x9", "", "1_0", "\\u0663", "2147483648"), 8),
            }.items()
        ),
        *(
            (f"enableTopicList={text}", f"enable_topic_list={expected}")
            for text, expected in {
                "true": True,
                "TRUE": True,
                "false": False,
                "true ": False,
                "1": False,
                "": False,
            }.items()
        ),
        ("scanNotActiveBrokerInterval=4294967296", "scan_not_active_broker_interval=4294967296"),
        ("productEnvName= a\\u00e9b  ", "product_env_name=aéb"),
        ("EnableTopicList=false", "enable_topic_list=True"),
        (
            "writeBufferHighWaterMark=77",
            "write_buffer_high_water_mark=77 client_write_buffer_high_water_mark=77",
        ),
        ("scanAvailableNameSrv=false", "is_scan_available_name_srv=False"),
        ("isScanAvailableNameSrv=false", "is_scan_available_name_srv=True"),
        ("configStorePath=/elsewhere", "config_store_path=ns.properties"),
    ],
)
def test_values_are_read_as_by_java(text: str, expected: str) -> None:
    config = load(text)
    names = re.findall(r"(\w+)=", expected)

    assert " ".join(f"{name}={getattr(config, name)}" for name in names) == expected


def test_an_update_takes_known_keys_and_keys_of_the_file() -> None:
    config = load("foo.bar=1\nclientWorkerThreads=7\nEnableTopicList=false\nconfigStorePath=/x")
    assert config.flat()["foo.bar"] == "1"
    assert config.flat()["EnableTopicList"] == "false"
    assert config.flat()["configStorePath"] == "ns.properties"
    config = config.update(
        {
            "enableTopicList": "false",
            "foo.bar": "2",
            "unknown": "3",
            "clientWorkerThreads": "9",
            "scanNotActiveBrokerInterval": "abc",
            "rocketwire.allowConfigUpdate": "true",
            "rocketwire.maxConnections": "1",
        }
    )

    assert config.enable_topic_list is False
    assert config.flat()["foo.bar"] == "2"
    assert "unknown" not in config.flat()
    assert config.client_worker_threads == 7
    assert config.flat()["clientWorkerThreads"] == "9"
    assert config.flat()["scanNotActiveBrokerInterval"] == "5000"
    assert config.allow_config_update is False
    assert config.max_connections == 65_536


def test_paths_and_the_black_list_itself_are_denied() -> None:
    config = load("configBlackList=enableTopicList;listenPort")

    assert config.denied_keys == {
        "configBlackList",
        "configStorePath",
        "enableTopicList",
        "kvConfigPath",
        "listenPort",
        "rocketmqHome",
    }


def test_stored_configuration_is_read_back() -> None:
    config = load("foo=a\\tb\nproductEnvName=\\u00e9\nlistenPort=1")

    assert load(config.to_properties().decode()).flat() == config.flat()


def test_system_properties_are_found_in_the_jvm_options() -> None:
    environment = {
        "JAVA_OPT": "-server -Xmx4g -Duser.home=/data  -Dtls.enable",
        "JAVA_OPT_EXT": "-Drocketmq.home.dir=/mq -Dcom.rocketmq.remoting.socket.sndbuf.size=65536",
    }

    assert system_properties(environment) == {
        "user.home": "/data",
        "tls.enable": "",
        "rocketmq.home.dir": "/mq",
        "com.rocketmq.remoting.socket.sndbuf.size": "65536",
    }
    config = Config.load(home=HOME, environment={**environment, "ROCKETMQ_HOME": "/other"})
    assert config.rocketmq_home == "/mq"
    assert config.home == "/data"
    assert config.kv_config_path == "/data/namesrv/kvConfig.json"
    assert config.server_socket_snd_buf_size == 65536
    assert config.client_socket_snd_buf_size == 65536


def test_system_properties_of_every_jvm_count_less_than_those_of_this_one() -> None:
    environment = {
        "JAVA_TOOL_OPTIONS": "-Da=1 '-Db=x y' -Dc=1",
        "JDK_JAVA_OPTIONS": '-Dc="2 z" -Dd=1 -De="open',
        "JAVA_OPT": "-Dd=2 -Df='1'",
        "JAVA_OPT_EXT": "-Df=3",
    }

    assert system_properties(environment) == {
        "a": "1",
        "b": "x y",
        "c": "2 z",
        "d": "2",
        "e": "open",
        "f": "3",
    }


def test_our_own_limits_come_from_the_file_or_from_the_jvm_options() -> None:
    options = "-Dcom.rocketmq.remoting.frameMaxLength=1024 -Drocketwire.frameDeadlineSeconds=5"

    config = load("rocketwire.maxConnections=10", JAVA_OPT_EXT=options)

    assert config.frame_max_length == 1024
    assert config.frame_deadline_seconds == 5
    assert config.max_connections == 10


def test_tls_towards_brokers_follows_the_server_mode() -> None:
    enforcing = "-Dtls.server.mode=enforcing"

    assert Config.load(home=HOME, environment={"JAVA_OPT_EXT": enforcing}).use_tls is True
    without = {"JAVA_OPT_EXT": f"{enforcing} -Dtls.enable=false"}
    assert Config.load(home=HOME, environment=without).use_tls is False


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, SerializeType.JSON),
        ({"ROCKETMQ_SERIALIZE_TYPE": " "}, SerializeType.JSON),
        ({"ROCKETMQ_SERIALIZE_TYPE": "ROCKETMQ"}, SerializeType.ROCKETMQ),
        (
            {
                "ROCKETMQ_SERIALIZE_TYPE": "ROCKETMQ",
                "JAVA_OPT_EXT": "-Drocketmq.serialize.type=JSON",
            },
            SerializeType.JSON,
        ),
    ],
)
def test_serialize_type(environment: dict[str, str], expected: SerializeType) -> None:
    assert Config.load(home=HOME, environment=environment).serialize_type is expected


def test_another_serialize_type_is_no_start() -> None:
    with pytest.raises(ConfigError, match="json"):
        Config.load(home=HOME, environment={"ROCKETMQ_SERIALIZE_TYPE": "json"})


def test_a_bare_configuration_has_no_file_and_no_second_port() -> None:
    assert Config().kv_config_path == ""
    assert Config().config_store_path == ""
    assert Config().observe_port == -1


def refusals(text: str, environment: dict[str, str] | None = None) -> list[str]:
    entries = PropertiesFile("ns.properties", load_entries(text.encode()))
    result: list[str] = []
    Config.load(entries, home=HOME, environment=environment, refusals=result)
    return result


def test_all_of_them_are_named_with_their_lines_in_the_order_of_the_file() -> None:
    text = """
# limits
rocketwire.maxTopics : 12O
waitSecondsForService = -3
rocketwire.adminAddresses = 10.0.0.0/8, \\
    10.0.0.0/99
rocketwire.allowConfigUpdate=yes
"""
    assert refusals(text) == [
        "ns.properties, line 3: rocketwire.maxTopics : 12O: must be a whole number from 1 to"
        " 2147483647, or 0 (no limit); the default is 1000000",
        "ns.properties, line 5: rocketwire.adminAddresses = 10.0.0.0/8, 10.0.0.0/99: '10.0.0.0/99'"
        " does not appear to be an IPv4 or IPv6 network; must be a list of IP addresses and networks"
        " with commas between them, or none",
        "ns.properties, line 7: rocketwire.allowConfigUpdate=yes: must be true or false, without"
        " spaces; the default is false",
    ]


def test_only_the_entry_that_counts_is_refused_and_named() -> None:
    assert refusals("listenPort=98765\nlistenPort=1") == []
    (refusal,) = refusals("listenPort=1\nrocketwire.maxTopics=5\nlistenPort=-1")
    assert refusal.startswith("ns.properties, line 3: listenPort=-1: must be")


def test_a_system_property_is_refused_by_its_name_and_once() -> None:
    options = "-Drocketwire.maxBrokers=-5 -Dcom.rocketmq.remoting.socket.sndbuf.size=64k"

    assert refusals("", {"JAVA_OPT_EXT": options}) == [
        "-Dcom.rocketmq.remoting.socket.sndbuf.size=64k: must be a whole number from 0 to 2147483647"
        " bytes; the default is 0",
        "-Drocketwire.maxBrokers=-5: must be a whole number from 1 to 2147483647, or 0 (no limit);"
        " the default is 10000",
    ]


def test_refused_value_leaves_the_option() -> None:
    entries = {"rocketwire.maxTopics": "-1", "rocketwire.maxBrokers": "7"}
    options = "-Drocketwire.maxTopics=9"
    result: list[str] = []
    config = Config.load(entries, home=HOME, environment={"JAVA_OPT_EXT": options}, refusals=result)

    assert (config.max_topics, config.max_brokers, len(result)) == (9, 7, 1)


def test_an_error_holds_them_all() -> None:
    with pytest.raises(ConfigError) as caught:
        Config.load({"listenPort": "-1", "rocketwire.driver": "x"}, home=HOME)

    assert len(caught.value.refusals) == 2
    assert str(caught.value) == "; ".join(caught.value.refusals)


def test_a_configuration_that_a_program_makes_is_compared_too() -> None:
    Config().check()
    Config(rocketmq_home="x", wait_seconds_for_service=-1).check()  # Java takes it
    with pytest.raises(
        ConfigError, match=r"^frame_max_length=-1: must be a whole number from 1024"
    ):
        Config(frame_max_length=-1).check()


@pytest.mark.parametrize(
    ("entries", "environment", "expected"),
    [
        ({}, {}, (5558, False)),
        ({"listenPort": "0"}, {}, (0, False)),
        ({"rocketwire.observePort": "5558"}, {}, (5558, True)),
        ({}, {"JAVA_OPT_EXT": "-Drocketwire.observePort=9000"}, (9000, True)),
        ({"rocketwire.observePort": "-1"}, {}, (-1, False)),
        ({"rocketwire.observeAddress": "10.0.0.1"}, {}, (5558, True)),
    ],
)
def test_the_port_for_operators_may_be_missing_unless_it_was_asked_for(
    entries: dict[str, str], environment: dict[str, str], expected: tuple[int, bool]
) -> None:
    config = Config.load(entries, home=HOME, environment=environment)

    assert (config.observe_port, config.observe_asked) == expected
