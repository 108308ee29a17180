"""Updates by request: settings of a list may change, within their bounds."""

import pytest

from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.settings import Owner
from rocketwire_namesrv.config.update_policy import ALLOWED, Change, UpdateRefusedError, changes_by

CONFIG = Config.load({"foo.bar": "1"}, home="~", config_path="ns.properties")
START_ONLY = {"rocketmqHome", "kvConfigPath", "configStorePath", "configBlackList", "bindAddress"}


def test_update_list_has_all_settings_of_java_but_paths_and_addresses() -> None:
    names = {name for name, _ in CONFIG.items(Owner.NAMESRV, Owner.SERVER)}

    assert names - ALLOWED == START_ONLY
    assert ALLOWED <= names


def test_update_names_both_values() -> None:
    config, changes = changes_by(CONFIG, {"enableTopicList": "false", "enableAllTopicList": "true"})

    assert not config.enable_topic_list
    assert changes == (Change("enableTopicList", "true", "false"),)
    assert str(changes[0]) == "enableTopicList: true -> false"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, "x") for key in ("unknown", "foo.bar", "clientWorkerThreads", "")),
        ("scanNotActiveBrokerInterval", "abc"),
    ],
)
def test_update_ignores_unknown_keys_and_numbers_as_java_does(key: str, value: str) -> None:
    config, changes = changes_by(CONFIG, {key: value})

    assert (config.scan_not_active_broker_interval, changes) == (5000, ())
    assert config == CONFIG


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
def test_update_refuses_a_number_beyond_its_bounds(key: str, value: str) -> None:
    with pytest.raises(UpdateRefusedError, match=f"{key} must be from"):
        changes_by(CONFIG, {"enableTopicList": "false", key: value})


def test_update_takes_a_number_within_its_bounds() -> None:
    config, changes = changes_by(CONFIG, {"listenPort": "1", "scanNotActiveBrokerInterval": "10"})

    assert (config.listen_port, config.scan_not_active_broker_interval) == (1, 10)
    assert len(changes) == 2


PATHS_AND_SECRETS = (
    *("configStorePathName", "storePathRootDir", "brokerConfigPath", "secretKey", "aclFile"),
)
OURS = ("rocketwire.allowConfigUpdate", "tls.server.mode", "com.rocketmq.remoting.frameMaxLength")


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        *((key, "in black list") for key in PATHS_AND_SECRETS),
        *((key, ".") for key in sorted(START_ONLY)),
        *((key, "start alone sets") for key in OURS),
    ],
)
def test_update_of_a_key_is_refused(key: str, reason: str) -> None:
    with pytest.raises(UpdateRefusedError, match=reason):
        changes_by(CONFIG, {"enableTopicList": "false", key: "x"})


def test_update_limits_the_length_of_a_text() -> None:
    with pytest.raises(UpdateRefusedError):
        changes_by(CONFIG, {"productEnvName": "x" * 257})
    config, _ = changes_by(CONFIG, {"productEnvName": "x" * 256})

    assert config.product_env_name == "x" * 256


def test_update_obeys_the_black_list_of_the_operator() -> None:
    config = Config.load({"configBlackList": "enableTopicList"}, home="~")

    with pytest.raises(UpdateRefusedError, match="in black list"):
        changes_by(config, {"enableTopicList": "false"})
