"""Accounts: Java's clients sign their requests, and refusals are those of a Java broker of 5.5.0."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from rocketwire.codes import RequestCode as Code
from rocketwire.messages import encode_body
from rocketwire.messages.enums import ConsumeFromWhere, ConsumeType, MessageModel
from rocketwire.messages.heartbeat import ConsumerData, HeartbeatData
from rocketwire.policy.subscription import subscription_data
from rocketwire.signing import sign
from rocketwire.wire.command import RemotingCommand
from tests.peers import cache as java_cache
from tests.peers.dev_cluster import DevBroker
from tests.peers.peers import CURRENT, OLD, JavaBroker, JavaNameServer, JavaPeer, number_keys
from tests.peers.processes import LOOPBACK, PeerFailedError
from tests.peers.shared_peers import have_here
from tests.support.broker_wire import WireClient

ROCKET, BOSS = ("rocket", "wire1234"), ("boss", "boss1234")
PLAIN_ACL = """
accounts:
- accessKey: rocket
  secretKey: wire1234
  defaultTopicPerm: DENY
  defaultGroupPerm: SUB
  topicPerms: [topicA=DENY, topicB=PUB|SUB, topicC=SUB, topicP=PUB]
  groupPerms: [groupA=DENY]
- accessKey: boss
  secretKey: boss1234
  admin: true
"""
"""The accounts, in the file of a broker of 4.x."""

PROVIDER = "org.apache.rocketmq.auth.{0}.provider.{1}{2}Provider"
JAVAS = {
    "authenticationEnabled": "true",
    "authenticationProvider": PROVIDER.format("authentication", "Default", "Authentication"),
    "authenticationMetadataProvider": PROVIDER.format(
        "authentication", "Local", "AuthenticationMetadata"
    ),
    "authorizationEnabled": "true",
    "authorizationProvider": PROVIDER.format("authorization", "Default", "Authorization"),
    "authorizationMetadataProvider": PROVIDER.format(
        "authorization", "Local", "AuthorizationMetadata"
    ),
    "initAuthenticationUser": '{"username":"boss","password":"boss1234"}',
    "innerClientAuthenticationCredentials": '{"accessKey":"boss","secretKey":"boss1234"}',
}
POLICIES = [
    ("Topic:topicA", ["All"], "Deny"),
    ("Topic:topicB", ["Pub", "Sub"], "Allow"),
    ("Topic:topicC", ["Sub"], "Allow"),
    ("Topic:topicP", ["Pub"], "Allow"),
    ("Group:*", ["Sub"], "Allow"),
    ("Group:groupA", ["All"], "Deny"),
]
"""The same permissions, as a broker of 5.5.0 has them."""


class Request(NamedTuple):
    code: int
    fields: dict[str, str]
    account: tuple[str, str] | None = ROCKET
    body: bytes = b""


def call(client: WireClient, request: Request) -> RemotingCommand:
    code, fields, account, body = request
    if account is not None:
        command = RemotingCommand(code=code, ext_fields=fields, body=body or None)
        fields = dict(sign(command, *account).ext_fields or {})
    return client.call(code, fields, body or None)


def build_topic(topic: str) -> Request:
    fields = {"topic": topic, "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4"}
    settings = {"perm": "6", "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false"}
    return Request(Code.UPDATE_AND_CREATE_TOPIC, {**fields, **settings}, BOSS)


def build_send(topic: str, account: tuple[str, str] | None = ROCKET) -> Request:
    values = ("p", topic, "TBW102", "4", "0", "0", "0", "0", "", "0", "false", "false")
    return Request(310, dict(zip("abcdefghijkm", values, strict=True)), account, b"x")


def build_pull(topic: str, group: str) -> Request:
    place = {"topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "1"}
    limits = {"sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0"}
    return Request(11, {"consumerGroup": group, "subscription": "*", **place, **limits})


def build_heartbeat(group: str, topic: str) -> Request:
    consumer = ConsumerData(
        group_name=group,
        consume_type=ConsumeType.CONSUME_PASSIVELY,
        message_model=MessageModel.CLUSTERING,
        consume_from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
        subscription_data_set=(subscription_data(topic, version=1),),
    )
    data = HeartbeatData(client_id="c1", consumer_data_set=(consumer,))
    return Request(34, {}, ROCKET, encode_body(data) or b"")


def requests() -> Iterator[Request]:
    yield build_send("topicB", None)
    yield build_send("topicB", ("rocket", "wrong"))
    yield build_send("topicB", ("nobody", "wire1234"))
    yield build_send("topicB")._replace(
        account=None, fields={**build_send("topicB").fields, "AccessKey": "rocket"}
    )
    for topic in ("topicA", "topicB", "topicC", "topicP", "other"):
        yield build_send(topic)
        yield build_pull(topic, "groupC")
    for group in ("groupA", "groupC", "another"):
        yield build_pull("topicB", group)
        yield build_heartbeat(group, "topicB")
    yield build_heartbeat("groupC", "topicA")
    peek = {"consumerGroup": "groupC", "topic": "topicA", "queueId": "0", "maxMsgNums": "1"}
    yield Request(Code.PEEK_MESSAGE, peek)
    for code in (Code.GET_MAX_OFFSET, Code.GET_TOPIC_STATS_INFO, Code.VIEW_MESSAGE_BY_ID):
        yield Request(code, {"topic": "topicA", "queueId": "0", "offset": "0"})
    for code in (Code.GET_CONSUME_STATS, Code.GET_CONSUMER_CONNECTION_LIST):
        yield Request(code, {"consumerGroup": "groupA"})
    yield Request(Code.VIEW_BROKER_STATS_DATA, {"statsName": "x", "statsKey": "y"})
    yield build_send("%RETRY%groupA")
    back = {"offset": "0", "group": "groupA", "delayLevel": "1", "originTopic": "topicB"}
    yield Request(36, {**back, "originMsgId": "x", "unitMode": "false"})
    search = {"topic": "topicA", "key": "k", "maxNum": "1", "beginTimestamp": "0"}
    yield Request(12, {**search, "endTimestamp": "9999999999999"})
    queue = {"topic": "topicB", "queueId": "0"}
    yield Request(38, {"consumerGroup": "groupA"})
    yield Request(14, {**queue, "consumerGroup": "groupA"})
    yield Request(15, {**queue, "consumerGroup": "groupA", "commitOffset": "0"})
    yield Request(15, {"consumerGroup": "groupC", "topic": "topicA", "queueId": "0", "commitOffset": "0"})  # fmt: skip
    yield Request(35, {"clientID": "c1", "consumerGroup": "groupA"})
    locked = {"brokerName": "broker-a", "queueId": 0, "topic": "topicB"}
    body = {"clientId": "c1", "consumerGroup": "groupA", "mqSet": [locked]}
    yield Request(41, {}, ROCKET, json.dumps(body).encode())
    pop = {"consumerGroup": "groupC", "topic": "topicA", "queueId": "0", "maxMsgNums": "1"}
    limits = {"invisibleTime": "10000", "pollTime": "0", "bornTime": "0", "initMode": "0"}
    yield Request(200050, {**pop, **limits, "expType": "TAG", "exp": "*", "order": "false"})
    yield build_topic("topicB")._replace(account=ROCKET)
    yield Request(Code.DELETE_TOPIC_IN_BROKER, {"topic": "topicB"})
    yield Request(Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "groupC"})
    yield Request(Code.GET_BROKER_CONFIG, {}, None)
    yield Request(9999, {}, BOSS)
    yield Request(9999, {}, None)
    yield build_send("topicA", BOSS)


def ask_all(address: str) -> list[tuple[Request, int, str | None]]:
    # Code and remark of each answer; the remark of a success is left out.
    with WireClient(address) as client:
        for topic in ("topicA", "topicB", "topicC", "topicP", "other"):
            assert call(client, build_topic(topic)).code == 0
        pairs = [(request, call(client, request)) for request in requests()]
    return [
        (request, answer.code, answer.remark if answer.code in {3, 16} else None)
        for request, answer in pairs
    ]


def create_policies(address: str) -> None:
    user = {"username": "rocket", "password": "wire1234", "userType": "Normal"}
    entries = [
        {"resource": resource, "actions": actions, "decision": decision}
        for resource, actions, decision in POLICIES
    ]
    policies = [{"policyType": "CUSTOM", "entries": entries}]
    with WireClient(address) as client:
        for code, fields, body in (
            (3001, {"username": "rocket"}, {**user, "userStatus": "enable"}),
            (3006, {"subject": "User:rocket"}, {"subject": "User:rocket", "policies": policies}),
        ):
            assert call(client, Request(code, fields, BOSS, json.dumps(body).encode())).code == 0


@contextmanager
def our_broker(folder: Path) -> Generator[DevBroker]:
    folder.mkdir()
    accounts = folder / "plain_acl.yml"
    accounts.write_text(PLAIN_ACL)
    options = {"aclEnable": "true", "rocketwire.accountsFile": accounts}
    with DevBroker(folder / "broker", options=options) as broker:
        yield broker


def test_requests_are_refused_as_by_a_java_broker(tmp_path: Path) -> None:
    have_here(partial(java_cache.jars, CURRENT))
    with our_broker(tmp_path / "ours") as broker:
        ours = ask_all(broker.address)
    name_server = JavaNameServer(tmp_path / "namesrv")
    with name_server, JavaBroker(tmp_path / "java", [name_server.address], JAVAS) as java:
        create_policies(java.address)
        javas = ask_all(java.address)

    assert ours == javas


@pytest.mark.parametrize("version", [CURRENT, OLD])
def test_java_clients_sign_sends_and_reads(version: str, tmp_path: Path) -> None:
    have_here(partial(java_cache.classes, version, "Peer.java"))
    right = ("-Dacl.accessKey=rocket", "-Dacl.secretKey=wire1234")
    with our_broker(tmp_path / "ours") as broker:
        address = f"{LOOPBACK}:{broker.name_server_port}"
        with WireClient(broker.address) as client:
            assert call(client, build_topic("topicB")).code == 0
            assert call(client, build_topic("topicA")).code == 0
        with JavaPeer(tmp_path / "right", version=version, jvm=right) as java:
            keys = java.exchange(address, "topicB", 20)
            with pytest.raises(PeerFailedError, match="no permission to access Topic:topicA"):
                java.send(address, "topicA", "producers", range(1))
        with (
            JavaPeer(tmp_path / "none", version=version) as java,
            pytest.raises(PeerFailedError, match=r"username cannot be null\."),
        ):
            # Java may close the channel of its first sends: its thread for heartbeats is interrupted then.
            java.send(address, "topicB", "producers", range(1), attempts=20)

    assert keys == number_keys(20)
