"""A broker goes on with what waited when it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rocketwire_broker.later.restoring import value_of
from tests.support.broker import bodies
from tests.support.broker_folder import BrokerWithFolder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("properties", "value"),
    [
        (b"TAGS\x01a\x02", b"a"),
        (b"TAGS\x01a", b"a"),
        (b"a\x01TAGS\x02TAGS\x01b\x02", b"b"),
        (b"TAGS\x01a\x02TAGS\x01b\x02", b"b"),
        (b"OTAGS\x01a\x02", None),
        (b"", None),
    ],
)
def test_a_property_is_found_in_stored_bytes(properties: bytes, value: bytes | None) -> None:
    assert value_of(properties, b"TAGS\x01") == value


def test_tags_choose_messages_as_before(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    for tag in ("a", "b", "a"):
        client.send(body=tag.encode(), properties={"TAGS": tag})

    client = home.killed().connect()

    assert bodies(client.pulled(0, tags="b")) == [b"b"]


def test_delayed_messages_come_at_their_time_and_once(tmp_path: Path) -> None:
    home = BrokerWithFolder(tmp_path)
    client = home.connect()
    for level in ("1", "2", "3"):
        client.send(body=level.encode(), properties={"DELAY": level})
    home.pass_time(1_500)
    home = home.ended(1_000)
    home.pass_time(1_000)
    assert bodies(home.connect().pulled(0)) == [b"1"]
    home.pass_time(2_000)
    home = home.ended()
    home.pass_time(10_000)

    assert bodies(home.connect().pulled(0)) == [b"1", b"2", b"3"]
