"""The requests of Java's client and of ours for the same work, and their answers to a broker.

A tap stands between the clients and a broker of 5.5.0 and its name server.  A
difference counts unless ``same_requests.toml`` has a reason for it.
"""

import base64
import hmac
import json
import ssl
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
import trio

from rocketwire.client import (
    AccessChannel,
    ClientConfig,
    ConsumeConcurrentlyStatus,
    ConsumeOrderlyStatus,
    Credentials,
    LitePullConsumerConfig,
    LocalTransactionState,
    Message,
    PopConsumerConfig,
    PushConsumerConfig,
    create_reply,
    open_client,
    open_lite_pull_consumer,
    open_pop_consumer,
    open_producer,
    open_push_consumer,
)
from rocketwire.messages.enums import ConsumeFromWhere, MessageModel
from rocketwire.wire.message.stored import StoredMessage
from tests.java.admin.commands import UNIQUE
from tests.java.client.same_requests import (
    Requests,
    World,
    check,
    differences,
    open_world,
    requests,
    send_fields,
)
from tests.peers import cache as java_cache
from tests.peers.client_settings import patient, patient_producer
from tests.peers.messages import unique
from tests.peers.peers import CURRENT, JavaPeer
from tests.peers.shared_peers import have_here
from tests.support.tap import TO_CLIENT, TappedFrame

pytestmark = pytest.mark.full

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
CONSUMERS = ("push", "orderly", "broadcast", "sql", "pop", "lite", "lite-sql", "lite-assign")
FAILING = ("push-later", "push-dead", "orderly-dead", "pop-later", "pop-dead")
SENDS = (
    *("send", "oneway", "queue", "hash", "level", "timer", "batch", "compressed", "recall"),
    *("commit", "rollback", "check", "request"),
)
SETTINGS = {
    "trace": "push orderly broadcast pop lite push-later send oneway level batch compressed recall commit check request",
    "namespace": "push orderly pop lite push-later orderly-dead send batch recall check request",
    "namespace2": "push pop lite send check request",
    "acl": "push pop lite send oneway batch check request",
    "tls": "push send check",
    "stream": "push pop send",
    "unit": "push lite send",
    "heartbeat2": "push pop lite send",
    "cloud": "push lite send commit",
    "zone": "push send",
    "acl+zone": "send",
    "namespace+trace": "push send commit check",
    "namespace+tracetopic": "push send",
    "acl+namespace2+stream+trace+unit": "push pop lite send check request",
}
"""A setting that is not the default, and the kinds of clients that are compared with it."""
WIRE_PREFIX = "NS1%"
OWN_TRACE = "OWN_TRACE"
SECRET = b"secret"
HEARTBEAT, PULL, POP, LITE_PULL, SEND_BACK, SEND = 34, 11, 200050, 361, 36, 310
ACK, CHANGE_INVISIBLE = 200051, 200053


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    have_here(partial(java_cache.classes, CURRENT, "Requests.java"))
    with open_world(tmp_path_factory.mktemp("world"), {}) as opened:
        yield opened


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory, world: World) -> Iterator[JavaPeer]:
    with JavaPeer(tmp_path_factory.mktemp("java"), program="Requests.java") as peer:
        yield peer


def settings(setting: str, address: str) -> ClientConfig:
    words = setting.split("+")
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return patient(
        namesrv_addr=address,
        client_ip="127.0.0.1",
        instance_name="requests",
        heartbeat_broker_interval=1.0,
        mq_client_api_timeout=60.0,
        namespace="NS1" if "namespace" in words else "",
        namespace_v2="NS2" if "namespace2" in words else "",
        enable_stream_request_type="stream" in words,
        unit_name="unit" if "unit" in words else None,
        unit_mode="unit" in words,
        use_heartbeat_v2="heartbeat2" in words,
        access_channel=AccessChannel.CLOUD if "cloud" in words else AccessChannel.LOCAL,
        zone_name="zone" if "zone" in words else None,
        zone_mode="false" if "zone" in words else None,
        tls=trusting if "tls" in words else None,
        credentials=Credentials("user", SECRET.decode(), "token") if "acl" in words else None,
    )


async def open_ours(
    stack: AsyncExitStack, work: str, setting: str, address: str, topic: str, group: str
) -> None:
    config = settings(setting, address)
    tracing: dict[str, Any] = {
        "enable_trace": "trace" in setting or setting == "cloud",
        "trace_topic": OWN_TRACE if "tracetopic" in setting else None,
    }
    subscription = {topic: ("a > 5", "SQL92") if work.endswith("sql") else "*"}
    fails = work.endswith(("-later", "-dead"))
    attempts = 0 if work.endswith("-dead") else 16 if work.startswith("pop") else -1
    if work.startswith("pop"):

        async def pop(_message: object) -> bool:
            return not fails

        pops = PopConsumerConfig(**tracing, max_reconsume_times=attempts or 0)
        await stack.enter_async_context(
            open_pop_consumer(config, group, subscription, pop, config=pops)
        )
    elif work.startswith("lite"):
        await open_lite(stack, work, config, topic, group, tracing)
    elif work in (*CONSUMERS, *FAILING):

        async def consume(_messages: object, _context: object) -> Any:
            later = ConsumeConcurrentlyStatus.RECONSUME_LATER
            suspend = ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT
            return (suspend if work.startswith("orderly") else later) if fails else None

        model = MessageModel.BROADCASTING if work == "broadcast" else MessageModel.CLUSTERING
        push = PushConsumerConfig(
            consume_from_where=FIRST, message_model=model, max_reconsume_times=attempts, **tracing
        )
        name = "orderly_listener" if work.startswith("orderly") else "listener"
        listener: dict[str, Any] = {name: consume}
        await stack.enter_async_context(
            open_push_consumer(config, group, subscription, config=push, **listener)
        )
    else:
        client = await stack.enter_async_context(open_client(config))
        open_sends = send_requests if work == "request" else send_ours
        await open_sends(stack, work, client, topic, group, tracing)


async def open_lite(
    stack: AsyncExitStack, work: str, config: ClientConfig, topic: str, group: str, tracing: Any
) -> None:
    lites = LitePullConsumerConfig(consume_from_where=FIRST, **tracing)
    lite = await stack.enter_async_context(open_lite_pull_consumer(config, group, config=lites))
    if work == "lite-assign":
        queues = await lite.fetch_message_queues(topic)
        lite.assign(queues)
        await lite.seek_to_begin(queues[0])
        await lite.seek_to_end(queues[0])
        await lite.offset_for_timestamp(queues[0], 1)
        await lite.committed(queues[0])
    elif work == "lite-sql":
        lite.subscribe(topic, "a > 5", expression_type="SQL92")
        return
    else:
        lite.subscribe(topic)
    await lite.poll(3.0)
    await lite.commit()


async def send_requests(
    stack: AsyncExitStack, _kind: str, client: Any, topic: str, group: str, tracing: Any
) -> None:
    # Send a request to a consumer of the same client, which replies.

    async def reply(messages: Sequence[StoredMessage], _context: object) -> None:
        for message in messages:
            await replies.send(create_reply(message, message.body or b""))

    push = PushConsumerConfig(consume_from_where=FIRST, **tracing)
    await stack.enter_async_context(
        open_push_consumer(client, group, {topic: "*"}, config=push, listener=reply)
    )
    replies = await stack.enter_async_context(
        open_producer(
            client,
            f"{group}-replies",
            config=patient_producer(**tracing),
            check=lambda _message: LocalTransactionState.COMMIT_MESSAGE,
        )
    )
    await replies.request(make_message(topic), within=60)


make_message = partial(Message, body=b"body", tags="tag", keys="key", properties={"a": "6"})


async def send_ours(
    stack: AsyncExitStack, work: str, client: Any, topic: str, group: str, tracing: Any
) -> None:
    async def check(_message: object) -> LocalTransactionState:
        return LocalTransactionState.COMMIT_MESSAGE

    producer = await stack.enter_async_context(
        open_producer(client, group, config=patient_producer(**tracing), check=check)
    )
    message = make_message(topic)
    if work == "batch":
        await producer.send_batch([message, message])
    elif work == "oneway":
        await producer.send_oneway(message)
    elif work == "queue":
        await producer.send_to(message, (await producer.queues(topic))[1])
    elif work == "hash":
        await producer.send_ordered(message, "order 7")
    elif work == "recall":
        sent = await producer.send(make_message(topic, delay_millis=60_000))
        await producer.recall(topic, sent.recall_handle or "")
    elif work in ("commit", "rollback", "check"):
        state = {"commit": "COMMIT_MESSAGE", "rollback": "ROLLBACK_MESSAGE", "check": "UNKNOW"}[
            work
        ]

        async def execute(_message: object, _result: object) -> LocalTransactionState:
            return LocalTransactionState[state]

        await producer.send_in_transaction(message, execute)
    else:
        body = bytes(5000) if work == "compressed" else b"body"
        level, delay = int(work == "level"), 1000 if work == "timer" else None
        await producer.send(make_message(topic, body=body, delay_level=level, delay_millis=delay))


AWAITED = {
    "pop": (HEARTBEAT, POP),
    "lite": (HEARTBEAT, LITE_PULL),
    "lite-assign": (LITE_PULL,),
    "check": (39, 37),
    "push-later": (SEND_BACK,),
    "push-dead": (SEND_BACK,),
    "orderly-dead": (SEND,),
    "pop-later": (CHANGE_INVISIBLE,),
    "pop-dead": (ACK,),
}
"""The requests of a work of consumer that are awaited instead of a heartbeat and a pull."""


async def record(world: World, java: JavaPeer | None, work: str, setting: str) -> Requests:
    # Let one of the clients, Java's or ours, do its work, and return its requests.
    topic, group = unique(f"topic-{work}"), unique(f"group-{work}")
    prefix = WIRE_PREFIX if "namespace" in setting.split("+") else ""
    wire_topic, wire_group = prefix + topic, prefix + group
    await trio.to_thread.run_sync(world.make_topic, wire_topic)
    if "tracetopic" in setting:
        await trio.to_thread.run_sync(world.make_topic, OWN_TRACE)
    if work.startswith("pop"):
        mode = {"topic": wire_topic, "consumerGroup": wire_group, "mode": "POP"}
        world.ask(401, json.dumps({**mode, "popShareQueueNum": 8}).encode())
    is_traced = "trace" in setting or setting == "cloud"
    if work in FAILING or (work in CONSUMERS and is_traced):
        properties = {"UNIQ_KEY": UNIQUE, "KEYS": "key", "TAGS": "tag", "a": "6"}
        text = "\2".join(f"{name}\1{value}" for name, value in properties.items())
        world.ask(10, b"body", **{**send_fields(wire_topic), "properties": text})
    mark = world.mark()
    async with AsyncExitStack() as stack:
        if java is not None:
            stack.push_async_callback(trio.to_thread.run_sync, partial(java.call, "close"))
            call = partial(java.call, work, setting, world.names.address, topic, group)
            await trio.to_thread.run_sync(call)
        else:
            await open_ours(stack, work, setting, world.names.address, topic, group)
        if work in (*CONSUMERS, *FAILING, "check"):
            await world.wait_for(mark, *AWAITED.get(work.removesuffix("-sql"), (HEARTBEAT, PULL)))
        if setting == "heartbeat2":
            await world.wait_for_texts(mark, b'"withoutSub":true')
        if work in CONSUMERS:
            await trio.sleep(3)
            unit = "@unit" if "unit" in setting else ""
            stream = "@STREAM" if "stream" in setting or work.startswith("lite") else ""
            client = f"127.0.0.1@requests{unit}{stream}"
            await world.let_broker_ask(wire_topic, wire_group, client)
        if is_traced:
            await world.wait_for_trace(mark, is_sent=work != "oneway")
        await trio.sleep(2)
    await trio.sleep(0.5)
    frames = world.since(mark)
    if "acl" in setting:
        check_signatures(frames)
    return requests(frames, {topic: "TOPIC", group: "GROUP"})


def check_signatures(frames: Sequence[TappedFrame]) -> None:
    """Every request is signed: HMAC-SHA1 of the values in the order of their names, and of the body.

    Java: ``AclClientRPCHook``, ``AclUtils.combineRequestContent``.
    """
    for frame in frames:
        length = int.from_bytes(frame.data[5:8], "big")
        header, body = json.loads(frame.data[8 : 8 + length]), frame.data[8 + length :]
        if frame.direction == TO_CLIENT or header["flag"] & 1:
            continue
        signed = dict(header.get("extFields") or {})
        signature = signed.pop("Signature", None)
        if header["language"] == "JAVA":  # adds these afterwards, and brokers refuse the request
            signed.pop("__ZONE_NAME", None)
            signed.pop("__ZONE_MODE", None)
        content = "".join(value for _, value in sorted(signed.items())).encode() + body
        digest = hmac.digest(SECRET, content, "sha1")
        assert signature == base64.b64encode(digest).decode(), header


@pytest.mark.parametrize(
    ("work", "setting"),
    [
        *((work, "plain") for work in (*CONSUMERS, *FAILING, *SENDS)),
        *((work, setting) for setting, kinds in SETTINGS.items() for work in kinds.split()),
    ],
)
async def test_our_client_sends_and_answers_the_same_as_javas(
    world: World, java: JavaPeer, work: str, setting: str
) -> None:
    sides = [await record(world, side, work, setting) for side in (java, None)]
    check(differences(work if setting == "plain" else f"{work} {setting}", *sides))
