"""Files of accounts, and patterns of trusted addresses."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from rocketwire.errors import IllegalValueError
from rocketwire_broker.access.accounts import Permission, is_trusted, read_accounts

JAVAS = """
globalWhiteRemoteAddresses:
  - 10.10.103.*
accounts:
  - accessKey: RocketMQ
    secretKey: 12345678
    whiteRemoteAddress:
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms:
      - topicA=DENY
      - topicB=PUB|SUB
      - topicC=SUB
    groupPerms:
      - groupA=DENY
  - accessKey: rocketmq2
    secretKey: 12345678
    whiteRemoteAddress: 192.168.1.*
    admin: true
dataVersion:
  - counter: 1
"""
"""The file of Java's distribution, with the version that a broker writes into it."""


def test_javas_file_is_read() -> None:
    accounts = read_accounts(yaml.safe_load(JAVAS))
    first, second = accounts.by_key["RocketMQ"], accounts.by_key["rocketmq2"]

    assert accounts.trusted == ("10.10.103.*",)
    assert (first.secret_key, first.is_admin, first.trusted) == ("12345678", False, "")
    assert (first.default_topic, first.default_group) == (Permission.DENY, Permission.SUB)
    assert first.topics["topicB"] == Permission.PUB | Permission.SUB
    assert first.groups == {"groupA": Permission.DENY}
    assert (second.is_admin, second.trusted) == (True, "192.168.1.*")


def test_the_same_members_are_read_from_toml() -> None:
    text = '[[accounts]]\naccessKey = "a"\nsecretKey = "s"\ntopicPerms = ["orders=PUB"]\n'

    assert read_accounts(tomllib.loads(text)).by_key["a"].topics == {"orders": Permission.PUB}


def test_a_secret_is_not_printed() -> None:
    assert "12345678" not in repr(read_accounts(yaml.safe_load(JAVAS)))


ACCOUNT: dict[str, Any] = {"accessKey": "a", "secretKey": "s"}


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (None, "the document is not a table"),
        ({"odd": 1}, "the document: odd is not a member"),
        ({"accounts": 1}, "accounts is not a list"),
        ({"accounts": [1]}, "accounts[0] is not a table"),
        ({"accounts": [{}]}, "accounts[0].accessKey is not a text"),
        ({"accounts": [{"accessKey": "a"}]}, "accounts[0].secretKey is not a text"),
        ({"accounts": [{**ACCOUNT, "secretKey": ""}]}, "accounts[0].secretKey"),
        ({"accounts": [{**ACCOUNT, "admin": 1}]}, "accounts[0].admin"),
        ({"accounts": [{**ACCOUNT, "x": 1}]}, "x is not a member"),
        ({"accounts": [{**ACCOUNT, "topicPerms": ["t"]}]}, "'t' is not NAME=PERMISSION"),
        ({"accounts": [{**ACCOUNT, "topicPerms": ["t=ALL"]}]}, "'ALL' is none of"),
        ({"accounts": [ACCOUNT] * 2}, "a is there twice"),
    ],
)
def test_other_documents_are_errors(document: Any, text: str) -> None:
    with pytest.raises(IllegalValueError, match=re.escape(text)):
        read_accounts(document)


@pytest.mark.parametrize(
    ("pattern", "trusted", "untrusted"),
    [
        ("", (), ("10.0.0.1", "")),
        ("*", ("10.0.0.1", "::1"), ()),
        ("10.0.0.1", ("10.0.0.1",), ("10.0.0.10", "10.0.0.11")),
        ("10.0.0.1,::1", ("10.0.0.1", "::1"), ("10.0.0.2",)),
        ("10.0.0.*", ("10.0.0.1", "10.0.0.255"), ("10.0.1.1", "::1", "10.0.0.x")),
        ("10.0.*.*", ("10.0.3.1",), ("10.1.0.1",)),
        ("10.0.1-5.*", ("10.0.1.1", "10.0.5.9"), ("10.0.6.1",)),
        ("10.0.0.{1,3}", ("10.0.0.1", "10.0.0.3"), ("10.0.0.2",)),
    ],
)
def test_patterns(pattern: str, trusted: tuple[str, ...], untrusted: tuple[str, ...]) -> None:
    assert all(is_trusted(host, pattern) for host in trusted)
    assert not any(is_trusted(host, pattern) for host in untrusted)
