"""Requests of accounts, files of accounts, and warnings without them."""

import re
import tomllib
from typing import Any

import pytest
import yaml

from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.errors import IllegalValueError
from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.signing import sign
from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.access.access import Access, find_exposure
from rocketwire_broker.access.accounts import Permission, is_trusted, read_accounts
from rocketwire_broker.config import Config
from rocketwire_broker.handlers.requests import needs_of
from tests.support.broker import BrokerAtHand, Client

HOST = "127.0.0.1"
DOCUMENT = {
    "globalWhiteRemoteAddresses": ["10.0.0.1"],
    "accounts": [
        {
            "accessKey": "rocket",
            "secretKey": "wire1234",
            "whiteRemoteAddress": "10.0.0.2",
            "defaultGroupPerm": "SUB",
            "topicPerms": ["topicA=DENY", "topicB=PUB|SUB", "topicC=SUB"],
            "groupPerms": ["groupA=DENY"],
        },
        {"accessKey": "boss", "secretKey": "boss1234", "admin": True},
    ],
}
ACCESS = Access(read_accounts(DOCUMENT))
NO_PERMISSION = "User:rocket has no permission to access"


def request(code: int, **fields: str) -> RemotingCommand:
    return RemotingCommand(code=code, opaque=1, ext_fields=fields)


def refuse(request: RemotingCommand, host: str = HOST) -> str | None:
    return ACCESS.refusal(request, host, needs_of(request, "DefaultCluster"))


def refuse_signed(
    code: Code, key: str = "rocket", word: str = "wire1234", **fields: str
) -> str | None:
    return refuse(sign(request(code, **fields), key, word))


def test_request_with_another_signature_is_refused() -> None:
    unsigned = request(Code.GET_BROKER_CONFIG, AccessKey="rocket")

    assert refuse(request(Code.GET_BROKER_CONFIG)) == "username cannot be null."
    assert refuse(unsigned) == "check signature failed."
    assert refuse_signed(Code.GET_BROKER_CONFIG, word="wrong") == "check signature failed."
    assert refuse_signed(Code.GET_BROKER_CONFIG, key="nobody") == "User:nobody is not found."
    assert refuse_signed(Code.GET_CONSUMER_LIST_BY_GROUP, consumerGroup="g") is None


@pytest.mark.parametrize(
    ("topic", "sent", "read"),
    [
        ("topicA", "the decision is deny.", "the decision is deny."),
        ("topicB", None, None),
        ("topicC", "no matched policies.", None),
        ("other", "no matched policies.", "no matched policies."),
    ],
)
def test_topics_have_permissions(topic: str, sent: str | None, read: str | None) -> None:
    where = f"{NO_PERMISSION} Topic:{topic} from 127.0.0.1, "
    for code, fields, reason in (
        (Code.SEND_MESSAGE_V2, {"b": topic}, sent),
        (Code.PULL_MESSAGE, {"topic": topic, "consumerGroup": "g"}, read),
    ):
        assert refuse_signed(code, **fields) == (reason and where + reason)


def test_groups_have_permissions() -> None:
    fields = {"topic": "topicB", "consumerGroup": "groupA"}

    assert refuse_signed(Code.PULL_MESSAGE, **fields) == (
        f"{NO_PERMISSION} Group:groupA from 127.0.0.1, the decision is deny."
    )


def test_an_administrator_may_do_everything() -> None:
    for code in (Code.UPDATE_AND_CREATE_TOPIC, Code.UPDATE_BROKER_CONFIG, Code.SEND_MESSAGE):
        assert refuse_signed(code, "boss", "boss1234", topic="topicA") is None
    assert refuse_signed(Code.UPDATE_BROKER_CONFIG) == (
        f"{NO_PERMISSION} Cluster:DefaultCluster from 127.0.0.1, no matched policies."
    )


def test_trusted_address_needs_no_signature() -> None:
    unsigned = request(Code.SEND_MESSAGE, topic="topicA", AccessKey="rocket")

    assert refuse(request(Code.SEND_MESSAGE), "10.0.0.1") is None
    assert refuse(unsigned, "10.0.0.2") is None
    assert refuse(request(Code.SEND_MESSAGE), "10.0.0.2") is not None


def test_a_body_that_cannot_be_read_is_refused() -> None:
    beat = RemotingCommand(code=Code.HEART_BEAT, opaque=1, body=b"{")

    assert refuse(sign(beat, "rocket", "wire1234")) is not None


def test_session_refuses_with_no_permission(home: BrokerAtHand, client: Client) -> None:
    home.broker.access = ACCESS
    answer = client.send("topicB")

    assert (answer.code, answer.remark) == (ResponseCode.NO_PERMISSION, "username cannot be null.")
    assert home.broker.store.put_count == 0
    assert client.call(9999).code == ResponseCode.NO_PERMISSION


@pytest.mark.parametrize(
    ("code", "properties", "fields"),
    [
        (Code.VIEW_MESSAGE_BY_ID, {}, {"topic": "topicB"}),
        (
            Code.CONSUMER_SEND_MSG_BACK,
            {},
            {"group": "g", "originTopic": "topicB", "delayLevel": "0"},
        ),
        (
            Code.END_TRANSACTION,
            {"TRAN_MSG": "true", "PGROUP": "p"},
            {"producerGroup": "p", "commitOrRollback": "8", "commitLogOffset": "0"},
        ),
    ],
)
def test_message_needs_permission_of_its_topic(
    home: BrokerAtHand, code: int, properties: dict[str, str | None], fields: dict[str, str]
) -> None:
    home.connect().send("topicA", properties=properties, f="4" if properties else "0")
    home.broker.access = ACCESS
    place = {"offset": "0", "tranStateTableOffset": "0"}
    signed = sign(request(code, **place, **fields), "rocket", "wire1234")

    answer = home.connect().call(code, signed.ext_fields)

    assert (answer.code, answer.body) == (ResponseCode.NO_PERMISSION, None)
    assert "Topic:topicA" in (answer.remark or "")


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


CERTIFICATES = TlsSettings(
    server_mode="enforcing", test_mode=False, auth_client=True, need_client_auth="require"
)


@pytest.mark.parametrize(
    ("config", "address", "has_accounts", "is_exposed"),
    [
        (Config(), "0.0.0.0", False, True),
        (Config(), "::", False, True),
        (Config(), "192.0.2.1", False, True),
        (Config(tls=TlsSettings(server_mode="enforcing")), "0.0.0.0", False, True),
        (Config(tls=CERTIFICATES), "0.0.0.0", False, False),
        (Config(), "0.0.0.0", True, False),
        (Config(), "127.0.0.1", False, False),
        (Config(), "::1", False, False),
    ],
)
def test_exposed_broker(config: Config, address: str, has_accounts: bool, is_exposed: bool) -> None:
    events = find_exposure(config, address, has_accounts=has_accounts)

    assert [event.text.split(" can ")[0] for event in events] == [
        "any host that reaches 127.0.0.1:10911"
    ] * is_exposed
