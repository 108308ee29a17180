"""``ClientConfig`` and addresses: Java's rules for client ids, name servers, common fields."""

import inspect
from dataclasses import replace
from typing import Any

import pytest

from rocketwire import errors
from rocketwire.client import (
    LitePullConsumerConfig,
    PopConsumerConfig,
    ProducerConfig,
    PushConsumerConfig,
)
from rocketwire.client.addresses import join_address, parse_name_servers, split_address, vip_address
from rocketwire.client.config import ClientConfig, Credentials
from rocketwire.client.net.local_address import best_address, local_address
from rocketwire.versions import MQVersion


def test_the_version_gets_standard_json_and_go_away() -> None:
    version = ClientConfig().version
    assert version >= 401
    assert version > MQVersion.V5_3_1


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (ClientConfig(), "10.0.0.1@DEFAULT"),
        (ClientConfig(client_ip="1.2.3.4", instance_name="i"), "1.2.3.4@i"),
        (ClientConfig(unit_name="u"), "10.0.0.1@DEFAULT@u"),
        (ClientConfig(unit_name=" "), "10.0.0.1@DEFAULT"),
        (ClientConfig(unit_name="u", enable_stream_request_type=True), "10.0.0.1@DEFAULT@u@STREAM"),
    ],
)
def test_a_client_id_has_address_instance_and_unit(config: ClientConfig, expected: str) -> None:
    assert config.client_id("10.0.0.1") == expected


def test_an_own_instance_is_named_after_process_and_clock() -> None:
    assert ClientConfig().with_own_instance(7, 123).client_id("ip") == "ip@7#123"
    assert ClientConfig(instance_name="x").with_own_instance(7, 123).client_id("ip") == "ip@x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        (";;", ()),
        ("a:1", ("a:1",)),
        ("a:1;b:2;a:1", ("a:1", "b:2")),
        (" a:1 ; b:2", ("a:1", "b:2")),
        (["a:1", "b:2;c:3"], ("a:1", "b:2", "c:3")),
        ("[::1]:9876", ("[::1]:9876",)),
        ("http://MQ_INST_1_2.mq.example:80", ("MQ_INST_1_2.mq.example:80",)),
        ("http://127.0.0.1:9876/", ("127.0.0.1:9876",)),
    ],
)
def test_name_servers_are_read_from_text(text: str | list[str], expected: tuple[str, ...]) -> None:
    assert parse_name_servers(text) == expected


@pytest.mark.parametrize(
    "text", ["a", "a:", ":1", "a:b", "a:0", "a:65536", "a:1,b:2", f"a:{'1' * 5000}"]
)
def test_an_invalid_address_is_rejected(text: str) -> None:
    with pytest.raises(errors.IllegalAddressError, match="not host:port: ") as caught:
        parse_name_servers(text)
    assert isinstance(caught.value, errors.LocalProtocolError)
    assert isinstance(caught.value, errors.ConnectFailedError)
    assert ("separate them by ';'" in str(caught.value)) == ("," in text)


def test_the_namespace_is_that_of_the_endpoint_unless_it_is_set() -> None:
    endpoint = "http://MQ_INST_123_ab.cn-hangzhou.mq.aliyuncs.com:80"

    config = ClientConfig(namesrv_addr=endpoint)
    assert config.with_namespace({}).namespace == "MQ_INST_123_ab"
    assert ClientConfig(namesrv_addr=[endpoint]).with_namespace({}).namespace == "MQ_INST_123_ab"
    environment = {"NAMESRV_ADDR": endpoint}
    assert ClientConfig().with_namespace(environment).namespace == "MQ_INST_123_ab"
    assert ClientConfig(namespace="n").with_namespace(environment).namespace == "n"
    assert ClientConfig(namesrv_addr="a:1").with_namespace(environment).namespace == ""


def test_addresses_are_taken_apart_at_the_last_colon_and_put_together() -> None:
    assert split_address("[::1]:9876") == ("::1", 9876)
    assert split_address("::1:9876") == ("::1", 9876)
    assert join_address("::1", 1) == "[::1]:1"
    assert join_address("host", 1) == "host:1"
    assert vip_address("host:10911") == "host:10909"


def test_name_servers_come_from_the_environment_where_none_are_configured() -> None:
    environment = {"NAMESRV_ADDR": "e:1"}
    assert ClientConfig().name_servers(environment) == ("e:1",)
    assert ClientConfig(namesrv_addr="a:1").name_servers(environment) == ("a:1",)
    assert ClientConfig().name_servers({}) == ()


@pytest.mark.parametrize(
    ("remap", "address", "expected"),
    [
        ({}, "10.0.0.1:10911", "10.0.0.1:10911"),
        ("10.0.0.1:10911 = node:1; *:10911=other:2", "10.0.0.1:10911", "node:1"),
        ("10.0.0.1:10911=node:1;*:10911=other:2", "10.0.0.2:10911", "other:2"),
        ({"*.svc": "localhost"}, "broker-0.svc:10909", "localhost:10909"),
        ({"*.svc": "localhost"}, "broker-0.svcx:10909", "broker-0.svcx:10909"),
        ({"10.0.*:109*": "node"}, "10.0.0.1:8080", "10.0.0.1:8080"),
        ({"10.0.*:109*": "node"}, "10.0.0.1:10912", "node:10912"),
        ({"[fd00::*]": "[::1]:5"}, "[fd00::2]:77", "[::1]:5"),
        (lambda address: address.replace("10.", "20."), "10.0.0.1:1", "20.0.0.1:1"),
    ],
)
def test_the_first_matching_pair_maps_an_address(remap: Any, address: str, expected: str) -> None:
    assert ClientConfig(address_remap=remap).address_map({})(address) == expected
    if isinstance(remap, str):
        environment = {"ROCKETWIRE_ADDRESS_MAP": remap}
        assert ClientConfig().address_map(environment)(address) == expected
        assert ClientConfig(address_remap={}).address_map(environment)(address) == address


@pytest.mark.parametrize(
    "remap", ["a", "a=", "a b=c", "a=c*", "a=b:x", "fd00::1=a", {"a": 1}, {1: "a"}, 3, b"a=b"]
)
def test_a_remap_that_is_none_is_refused_with_its_name(remap: Any) -> None:
    with pytest.raises(
        (errors.IllegalTypeError, errors.IllegalValueError), match="address_remap: expected "
    ):
        ClientConfig(address_remap=remap)
    if isinstance(remap, str):
        with pytest.raises(errors.IllegalValueError, match="ROCKETWIRE_ADDRESS_MAP: expected "):
            ClientConfig().address_map({"ROCKETWIRE_ADDRESS_MAP": remap})


@pytest.mark.parametrize("function", ["{}x".format, print, lambda _: 1 // 0])
def test_a_failing_remap_is_the_error_of_an_unreachable_broker(function: Any) -> None:
    with pytest.raises(errors.IllegalAddressError, match="a:1: address_remap failed: "):
        ClientConfig(address_remap=function).address_map({})("a:1")


def test_every_request_carries_namespace_zone_and_kind() -> None:
    config = ClientConfig(namespace_v2="n", enable_stream_request_type=True)

    assert config.common_fields({"ROCKETMQ_ZONE": "z", "ROCKETMQ_ZONE_MODE": "true"}) == {
        "nsd": "true",
        "ns": "n",
        "ReqT": "0",
        "__ZONE_NAME": "z",
        "__ZONE_MODE": "true",
    }
    assert ClientConfig(zone_name="").common_fields({"ROCKETMQ_ZONE": "z"}) == {}


@pytest.mark.parametrize(
    ("config", "name", "nearest"),
    [
        (ClientConfig, "namesrv_adr", "namesrv_addr"),
        (ClientConfig, "access_key", "credentials"),
        (ProducerConfig, "send_timeout", "send_msg_timeout"),
        (ProducerConfig, "timeout", "send_msg_timeout"),
        (PushConsumerConfig, "concurrency", "consume_thread_max"),
        (PushConsumerConfig, "consume_thread_mx", "consume_thread_max"),
        (PopConsumerConfig, "enable_tracee", "enable_trace"),
        (LitePullConsumerConfig, "auto_comit", "auto_commit"),
    ],
)
def test_an_unknown_setting_has_a_hint(config: type[Any], name: str, nearest: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}: .*; did you mean {nearest}"):
        config(**{name: "x"})
    assert nearest in inspect.signature(config).parameters
    with pytest.raises(TypeError, match=nearest):
        replace(config(), **{name: "x"})


@pytest.mark.parametrize("value", ["ak:TopSecret", ("ak", "TopSecret")])
def test_credentials_of_a_wrong_type_are_not_printed(value: Any) -> None:
    with pytest.raises(errors.IllegalTypeError, match="got a value of type") as caught:
        ClientConfig(credentials=value)
    assert "TopSecret" not in str(caught.value)


def test_secrets_are_not_printed() -> None:
    assert repr(Credentials("who", "hidden", "hidden")) == "Credentials(access_key='who')"


def test_the_own_address_is_an_outer_one_if_there_is_any() -> None:
    assert best_address(["127.0.0.1", "fe80::1%eth0", "2001:db8::1", "10.1.1.1"]) == "10.1.1.1"
    assert best_address(["::1", "2001:db8::1"]) == "2001:db8::1"
    assert best_address(["127.0.1.1"]) == "127.0.0.1"
    assert local_address()


def test_a_machine_without_a_known_name_has_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise OSError("unknown")

    monkeypatch.setattr("socket.getaddrinfo", unknown)

    assert local_address() == "127.0.0.1"


def test_variables_are_read_by_the_type_of_their_setting() -> None:
    config = ClientConfig.from_env(
        {
            "NAMESRV_ADDR": "a:1;b:2",
            "ROCKETWIRE_UNIT_NAME": "u",
            "ROCKETWIRE_VIP_CHANNEL_ENABLED": "TRUE",
            "ROCKETWIRE_VERSION": "401",
            "ROCKETWIRE_MQ_CLIENT_API_TIMEOUT": "1.5",
            "ROCKETWIRE_CLIENT_IP": "",
        }
    )

    expected: dict[str, Any] = {"namesrv_addr": "a:1;b:2", "unit_name": "u", "version": 401}
    assert config == ClientConfig(**expected, vip_channel_enabled=True, mq_client_api_timeout=1.5)


def test_credentials_are_read() -> None:
    variables = {"ROCKETWIRE_ACCESS_KEY": "a", "ROCKETWIRE_SECRET_KEY": "s"}
    assert ClientConfig.from_env(variables).credentials == Credentials("a", "s")
    variables["ROCKETWIRE_SECURITY_TOKEN"] = "t"
    assert ClientConfig.from_env(variables).credentials == Credentials("a", "s", "t")


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("ROCKETWIRE_UNIT_MODE", "yes", "expected true or false, got 'yes'"),
        ("ROCKETWIRE_VERSION", "new", "expected a whole number, got 'new'"),
        ("ROCKETWIRE_CONNECT_TIMEOUT", "1s", "expected a number, got '1s'"),
        ("ROCKETWIRE_CONNECT_TIMEOUT", "-1", ""),
    ],
)
def test_an_invalid_variable_is_rejected_by_name(variable: str, text: str, expected: str) -> None:
    name = variable if expected else "connect_timeout"
    with pytest.raises(errors.IllegalValueError, match=f"{name}: {expected}"):
        ClientConfig.from_env({variable: text})
