"""The tables of a broker as files."""

from pathlib import Path

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages.allocation import SetMessageRequestModeRequestBody
from rocketwire.messages.enums import MessageRequestMode
from rocketwire_broker.files.tables import OFFSETS, TOPICS
from tests.support.broker_folder import BrokerWithFolder
from tests.support.virtual_disk import VirtualDisk


@pytest.fixture
def home(disk: VirtualDisk) -> BrokerWithFolder:
    home = BrokerWithFolder(disk.root)
    home.connect().send()
    return home


def test_copy_of_a_missing_or_broken_file_is_read(home: BrokerWithFolder, tmp_path: Path) -> None:
    home.connect().send("another")
    home = home.restart()
    for content in (None, b"", bytes(100), b"{"):
        if content is None:
            (tmp_path / TOPICS).unlink()
        else:
            (tmp_path / TOPICS).write_bytes(content)

        home = home.restart_after_kill()

        assert "orders" in home.broker.topics


def test_numbers_without_quotes_are_read_as_java(home: BrokerWithFolder, tmp_path: Path) -> None:
    home.folder.close(home.now)
    (tmp_path / OFFSETS).write_text('{"offsetTable":{"orders@g":{0:1,1:4}, "odd":{0:1}}}')

    home = home.restart_after_kill()

    assert dict(home.broker.offsets.of("g", "orders")) == {0: 1, 1: 4}


def test_unchanged_table_is_not_written(home: BrokerWithFolder, disk: VirtualDisk) -> None:
    home.folder.persist(home.now)
    disk.calls.clear()

    home.folder.persist(home.now)

    assert not disk.calls


def test_a_full_disk_delays_a_table(
    home: BrokerWithFolder, disk: VirtualDisk, caplog: pytest.LogCaptureFixture
) -> None:
    home.broker.offsets.commit("g", "orders", 0, 1, home.now)
    disk.is_full = True
    home.folder.persist(home.now)
    home.folder.persist(home.now)
    disk.is_full = False
    home.folder.persist(home.now)

    assert len(caplog.records) == 1
    assert '"orders@g":{0:1}' in (disk.root / OFFSETS).read_text()


def test_topic_on_a_full_disk_does_not_exist(home: BrokerWithFolder, disk: VirtualDisk) -> None:
    version = home.broker.topics.version
    disk.is_full = True

    answer = home.connect().send("another")

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert "another" not in home.broker.topics
    assert home.broker.topics.version == version


def test_how_a_group_gets_a_topic_is_kept(home: BrokerWithFolder, tmp_path: Path) -> None:
    setting = SetMessageRequestModeRequestBody(
        consumer_group="g", topic="orders", mode=MessageRequestMode.POP, pop_share_queue_num=2
    )
    assert home.connect().call(Code.SET_MESSAGE_REQUEST_MODE, body=setting).code == 0

    home = home.restart()

    assert home.broker.request_modes == {"orders": {"g": setting}}
    text = (tmp_path / "config/messageRequestMode.json").read_text()
    assert text.startswith('{"messageRequestModeMap":{"orders":{"g":{"consumerGroup":"g",')
