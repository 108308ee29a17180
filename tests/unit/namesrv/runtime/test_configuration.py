"""A start takes file and environment together; the sample file explains every setting; files that are read again."""

import logging
import re
from pathlib import Path

import pytest

from rocketwire.serving.java_properties import load_entries
from rocketwire.serving.tls.settings import KEYS as TLS_KEYS
from rocketwire_namesrv.admin_http.address_list import AddressLists, read_lists
from rocketwire_namesrv.config.config import BY_KEY, PROPERTIES, Config
from rocketwire_namesrv.config.settings import Owner
from rocketwire_namesrv.runtime.address_file import AddressFile
from rocketwire_namesrv.runtime.configuration import load_configuration, sample

SETTING = re.compile(r"^#(?=[a-z]\S*=)", re.MULTILINE)
ELSEWHERE = {"kvConfigPath", "rocketwire.addressServerFile", "rocketwire.knownBrokersPath"}
"""Settings whose default depends on the user."""


def test_file_and_environment_are_taken_together(tmp_path: Path) -> None:
    path = tmp_path / "ns.properties"
    path.write_text("listenPort=1\nrocketwire.maxTopics=x\nlistenport=2\n")
    environment = {"JAVA_OPT_EXT": "-Drocketwire.maxBrokers=7 -Drocketwire.maxQueues=1"}

    settings = load_configuration(str(path), environment)

    assert (settings.config.listen_port, settings.config.max_brokers) == (1, 7)
    assert dict(settings.entries) == {
        "listenPort": "1",
        "rocketwire.maxTopics": "x",
        "listenport": "2",
    }
    assert [f"{path}, line 2" in text for text in settings.refusals] == [True]
    assert [remark.partition(" is ")[0] for remark in settings.remarks] == [
        f"{path}, line 3: listenport",
        "-Drocketwire.maxQueues",
    ]


def test_without_a_file_there_are_the_defaults() -> None:
    settings = load_configuration(None, {})

    assert dict(settings.entries) == {}
    assert settings.config.listen_port == 9876
    assert (settings.refusals, settings.remarks) == ((), ())


def test_the_sample_is_a_file_without_settings() -> None:
    assert load_entries(sample().encode("ascii")) == []


def test_the_sample_explains_every_setting_of_our_own_once() -> None:
    keys = [entry.key for entry in load_entries(SETTING.sub("", sample()).encode())]

    assert sorted(set(keys)) == sorted(keys)
    assert {setting.key for setting in PROPERTIES if setting.owner is Owner.OURS} <= set(keys)
    assert set(keys) <= set(BY_KEY) | TLS_KEYS


def test_the_values_of_the_sample_are_the_defaults() -> None:
    entries = {entry.key: entry.value for entry in load_entries(SETTING.sub("", sample()).encode())}
    defaults = Config.load(home="h")
    config = Config.load(entries, home="h")

    shown = dict(defaults.items(*Owner))
    ours = {key: text for key, text in entries.items() if key in BY_KEY and key not in ELSEWHERE}
    assert ours == {key: shown[key] for key in ours}
    assert config.tls.test_mode == defaults.tls.test_mode


NOTHING: AddressLists = {}


def test_fault_leaves_the_last_lists(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "addresses.properties"
    file = AddressFile(str(path), read_lists, NOTHING)
    with caplog.at_level(logging.INFO, "rocketwire.namesrv"):
        assert file.read() == {}
        assert file.read() == {}
        path.write_text("nsaddr=a:1\n")
        assert file.read() == {"nsaddr": "a:1"}
        path.write_text("nsaddr=a:1;b\n")
        assert file.read() == file.read() == {"nsaddr": "a:1"}
        path.write_text("nsaddr=a:1;b:2\n")
        assert file.read() == file.read() == {"nsaddr": "a:1;b:2"}

    stay, now = "the last valid lists of name servers stay:", "the lists of name servers come from"
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"{stay} {path}: no such file or directory",
        f"{now} {path} now",
        f"{stay} {path}: nsaddr: 'b' must be host:port",
        f"{now} {path} now",
    ]
