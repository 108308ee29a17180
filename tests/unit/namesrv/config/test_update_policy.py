"""Which settings a request may change: those on a list, within bounds, and nothing else."""

from __future__ import annotations

import pytest

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.settings import Owner
from rocketwire_namesrv.config.update_policy import ALLOWED, Change, UpdateRefusedError, changes_by

CONFIG = Config.load({"foo.bar": "1"}, home="~", config_path="ns.properties")
START_ONLY = {"rocketmqHome", "kvConfigPath", "configStorePath", "configBlackList", "bindAddress"}


def test_every_setting_of_java_but_paths_and_addresses_is_on_the_list() -> None:
    names = {name for name, _ in CONFIG.items(Owner.NAMESRV, Owner.SERVER)}

    assert names - ALLOWED == START_ONLY
    assert ALLOWED <= names


def test_a_change_is_told_with_both_values() -> None:
    config, changes = changes_by(CONFIG, {"enableTopicList": "false", "enableAllTopicList": "true"})

    assert not config.enable_topic_list
    assert changes == (Change("enableTopicList", "true", "false"),)
    assert str(changes[0]) == "enableTopicList: true -> false"


@pytest.mark.parametrize("key", ["unknown", "foo.bar", "clientWorkerThreads", ""])
def test_what_the_server_does_not_know_is_ignored(key: str) -> None:
    assert changes_by(CONFIG, {key: "x"}) == (CONFIG, ())


def test_a_number_that_is_none_is_ignored_as_in_java() -> None:
    config, changes = changes_by(CONFIG, {"scanNotActiveBrokerInterval": "abc"})

    assert config.scan_not_active_broker_interval == 5000
    assert changes == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scanNotActiveBrokerInterval", "0"),
        ("scanNotActiveBrokerInterval", "9" * 200),
        ("listenPort", "65536"),
        ("listenPort", "-1"),
        ("serverWorkerThreads", "0"),
        ("serverChannelMaxIdleTimeSeconds", "1"),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(key: str, value: str) -> None:
    with pytest.raises(UpdateRefusedError, match=f"{key} must be from"):
        changes_by(CONFIG, {"enableTopicList": "false", key: value})


def test_a_number_within_its_bounds_is_taken() -> None:
    config, changes = changes_by(CONFIG, {"listenPort": "1", "scanNotActiveBrokerInterval": "10"})

    assert (config.listen_port, config.scan_not_active_broker_interval) == (1, 10)
    assert len(changes) == 2


@pytest.mark.parametrize(
    "key", ["configStorePathName", "storePathRootDir", "brokerConfigPath", "secretKey", "aclFile"]
)
def test_what_sounds_like_a_path_or_a_secret_is_refused_as_the_black_list_is(key: str) -> None:
    with pytest.raises(UpdateRefusedError, match="in black list"):
        changes_by(CONFIG, {key: "x"})


@pytest.mark.parametrize("key", sorted(START_ONLY))
def test_what_counts_at_the_start_only_is_refused(key: str) -> None:
    with pytest.raises(UpdateRefusedError):
        changes_by(CONFIG, {"enableTopicList": "false", key: "x"})


@pytest.mark.parametrize(
    "key",
    ["rocketwire.allowConfigUpdate", "tls.server.mode", "com.rocketmq.remoting.frameMaxLength"],
)
def test_what_is_not_javas_to_change_is_refused(key: str) -> None:
    with pytest.raises(UpdateRefusedError, match="start alone sets"):
        changes_by(CONFIG, {key: "x"})


def test_a_text_has_an_end() -> None:
    with pytest.raises(UpdateRefusedError):
        changes_by(CONFIG, {"productEnvName": "x" * 257})
    config, _ = changes_by(CONFIG, {"productEnvName": "x" * 256})

    assert config.product_env_name == "x" * 256


def test_the_operators_own_list_counts_too() -> None:
    config = Config.load({"configBlackList": "enableTopicList"}, home="~")

    with pytest.raises(UpdateRefusedError, match="in black list"):
        changes_by(config, {"enableTopicList": "false"})
