"""Requests and responses that several subjects use."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.conformance.model import requests
from rocketwire_tools.conformance.model.case import (
    ONLY_4_9,
    ONLY_5_5,
    SINCE_5_3,
    Case,
    Profile,
)
from rocketwire_tools.conformance.model.case import case as write_case
from rocketwire_tools.conformance.model.outcomes import (
    ANY,
    Has,
    Incoming,
    JsonBody,
    Like,
    Messages,
    Response,
    Silence,
)
from rocketwire_tools.conformance.model.steps import (
    MAIN,
    Ask,
    Expect,
    Request,
    Send,
    Step,
    Until,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocketwire_tools.conformance.model.outcomes import Outcome

ONE_WAY: Final = 2
# Seconds until a message must have woken a pull or a pop.
SOON: Final = 8.0
NOT_5_3: Final = frozenset(Profile) - {Profile.JAVA_5_3}
BEFORE_5_5: Final = frozenset({Profile.JAVA_4_9, Profile.JAVA_5_3})
ONLY_5_3: Final = frozenset({Profile.JAVA_5_3})


def case(address: str, evidence: str, requirement: str, *steps: Step, **settings: Any) -> Case:
    """Write a case; ``address`` is code or subject, and number: ``310/1``."""
    return write_case(f"broker/{address}", (), evidence, requirement, *steps, **settings)


# Write a case that Java's brokers meet since 5.3.
since_5_3 = partial(case, profiles=SINCE_5_3)
# Write a case that Java's brokers meet since 5.5.
only_5_5 = partial(case, profiles=ONLY_5_5)
# Write a case that Java's brokers meet in 5.3 only.
only_5_3 = partial(case, profiles=ONLY_5_3)
# Write a case that Java's brokers meet in 4.9 only.
only_4_9 = partial(case, profiles=ONLY_4_9)

# ---------------------------------------------------------------------------- responses

# Success with anything.
OK: Final = Response(remark=ANY, body=ANY)
# An exception of a handler; its text is free.
THROWN: Final = Response(code=1, remark=Like(".+"), body=ANY)


def refuses(code: int, remark: object = ANY, ext: object = ANY) -> Response:
    return Response(code=code, remark=remark, ext=ext)


def json_body(value: object, **settings: Any) -> Response:
    return Response(remark=ANY, body=JsonBody(value), **settings)


def queue_key(queue: int = 0) -> str:
    return f'{{"brokerName":"{{=broker}}","queueId":{queue},"topic":"{{topic}}"}}'


def groups_have(**groups: object) -> Response:
    return json_body(Has({"subscriptionGroupTable": Has(groups)}))


def topics_have(**topics: object) -> Response:
    return json_body(Has({"topicConfigTable": Has(topics)}))


def offset(value: int | str) -> Response:
    return Response(remark=ANY, ext=Has({"offset": str(value)}))


# ---------------------------------------------------------------------------- steps


# Send a request and await its response; by default any success.
ask = partial(requests.ask, within=10.0, default=OK)
# Repeat a request until its response is acceptable.
until = partial(requests.until, within=10.0)


def one_way(
    code: int, ext: Mapping[str, str] | None = None, *, on: str = MAIN, body: Any = None
) -> Send:
    return Send((Request(code=code, ext=ext, body=body, flag=ONE_WAY),), on)


def silence(seconds: float = 0.5, *, on: str = MAIN) -> Expect:
    return Expect((Silence(seconds=seconds),), on)


# ---------------------------------------------------------------------------- topics and groups


def topic_fields(name: str = "{topic}", queues: int = 4, **fields: str) -> dict[str, str]:
    return {
        "topic": name,
        "defaultTopic": "TBW102",
        "readQueueNums": str(queues),
        "writeQueueNums": str(queues),
        "perm": "6",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    } | fields


def topic(name: str = "{topic}", queues: int = 4, *outcomes: Outcome, **fields: str) -> Ask:
    return ask(17, topic_fields(name, queues, **fields), *outcomes)


def group_body(name: str = "{group}", **members: object) -> dict[str, object]:
    defaults: dict[str, object] = {
        "brokerId": 0,
        "consumeBroadcastEnable": True,
        "consumeEnable": True,
        "consumeFromMinEnable": True,
        "groupName": name,
        "notifyConsumerIdsChangedEnable": True,
        "retryMaxTimes": 16,
        "retryQueueNums": 1,
        "whichBrokerWhenConsumeSlowly": 1,
    }
    return defaults | members


def group(name: str = "{group}", **members: object) -> Ask:
    return ask(200, None, body=group_body(name, **members))


# ---------------------------------------------------------------------------- messages

# Between name and value of a property, and after the value.
CHARACTERS: Final = ("\x01", "\x02")


def encode(properties: Mapping[str, str] | None) -> str:
    between, after = CHARACTERS
    return "".join(f"{name}{between}{text}{after}" for name, text in (properties or {}).items())


def message(
    body: bytes | str = "body",
    *,
    to: str = "{topic}",
    queue: int | str = 0,
    properties: Mapping[str, str] | None = None,
    code: int = 310,
    flag: int = 0,
    **changes: str,
) -> Request:
    """A send with short names (310); ``changes`` are other fields of the header."""
    fields = {
        "a": "{client}",
        "b": to,
        "c": "TBW102",
        "d": "4",
        "e": str(queue),
        "f": "0",
        "g": "{=now}",
        "h": "0",
        "i": encode(properties),
        "j": "0",
        "k": "false",
        "m": "false",
    } | changes
    return Request(code=code, ext=fields, body=body, flag=flag)


def put(
    body: bytes | str = "body",
    *outcomes: Outcome,
    on: str = MAIN,
    save: Mapping[str, str] | None = None,
    within: float = 10.0,
    **settings: Any,
) -> Ask:
    accepted = outcomes or (Response(remark=ANY),)
    return Ask(message(body, **settings), accepted, on, within, save or {})


def stores(queue: int | str = 0, queue_offset: object = 0, **ext: object) -> Response:
    number = str(queue_offset) if isinstance(queue_offset, int) else queue_offset
    fields = {"queueId": str(queue), "queueOffset": number, "msgId": Like("[0-9A-F]{32}")}
    return Response(ext=Has(fields | ext))


def fill(count: int, *, tags: tuple[str, ...] = ("T0", "T1"), **more: Any) -> tuple[Ask, ...]:
    """Send messages ``0``, ``1``, ... with tags in turn; ``visible`` waits for them."""
    return tuple(
        put(str(index), properties={"TAGS": tags[index % len(tags)], "a": str(index)}, **more)
        for index in range(count)
    )


def visible(count: int, *, to: str = "{topic}", queue: int = 0, within: float = 20.0) -> Until:
    """Wait until a queue shows that many messages: Java does so after it has acknowledged them."""
    return until(30, {"topic": to, "queueId": str(queue)}, offset(count), within=within)


# A topic with the messages ``0`` to ``3`` in its first queue.
FOUR: Final[tuple[Step, ...]] = (topic(), *fill(4), visible(4))


def pull_fields(
    queue_offset: int | str = 0,
    *,
    of: str = "{topic}",
    queue: int | str = 0,
    count: int = 32,
    hold: int = 0,
    tags: str = "*",
    **changes: str,
) -> dict[str, str]:
    """The ext fields of a pull with a subscription of its own.

    ``hold`` is the time in milliseconds for which the broker may keep the request.
    """
    return {
        "consumerGroup": "{group}",
        "topic": of,
        "queueId": str(queue),
        "queueOffset": str(queue_offset),
        "maxMsgNums": str(count),
        "sysFlag": "6" if hold else "4",
        "commitOffset": "0",
        "suspendTimeoutMillis": str(hold),
        "subVersion": "0",
        "subscription": tags,
    } | changes


def pull(
    queue_offset: int | str,
    *outcomes: Outcome,
    on: str = MAIN,
    code: int = 11,
    within: float = 10.0,
    save: Mapping[str, str] | None = None,
    **settings: Any,
) -> Ask:
    return ask(
        code, pull_fields(queue_offset, **settings), *outcomes, on=on, within=within, save=save
    )


def comes(
    *patterns: object,
    at: int | str = 0,
    on: str = MAIN,
    within: float = 20.0,
    not_before: float = 0.0,
    save: Mapping[str, str] | None = None,
    **settings: Any,
) -> Until:
    return until(
        11,
        pull_fields(at, **settings),
        Response(remark=ANY, body=Messages(patterns)),
        on=on,
        within=within,
        not_before=not_before,
        save=save,
    )


def finds(*patterns: object, **ext: object) -> Response:
    return Response(remark="FOUND", ext=Has(ext), body=Messages(patterns))


def nothing(code: int, remark: object, next_offset: int | str, **ext: object) -> Response:
    return Response(code=code, remark=remark, ext=Has({"nextBeginOffset": str(next_offset)} | ext))


def with_body(text: str, **members: object) -> Has:
    return Has({"body": text} | members)


def bodies(*texts: str | int) -> tuple[Has, ...]:
    return tuple(with_body(str(text)) for text in texts)


# Saves the position in the commit log and the queue offset of a stored message.
POSITION: Final = {"position": "ext.msgId:position", "queue_offset": "ext.queueOffset"}


# ---------------------------------------------------------------------------- heartbeats


def subscription(
    topic: str = "{topic}", text: str = "*", *, kind: str = "TAG", version: int = 1
) -> dict[str, object]:
    """The subscription of a group to a topic (Java: ``SubscriptionData``)."""
    is_tags = kind == "TAG" and text != "*"
    tags = [tag.strip() for tag in text.split("||")] if is_tags else []
    return {
        "classFilterMode": False,
        "codeSet": [string_hash(tag) for tag in tags],
        "expressionType": kind,
        "subString": text,
        "subVersion": version,
        "tagsSet": tags,
        "topic": topic,
    }


def consumers(
    group: str = "{group}",
    subscriptions: Sequence[dict[str, object]] | None = None,
    *,
    model: str = "CLUSTERING",
    kind: str = "CONSUME_PASSIVELY",
) -> dict[str, object]:
    """A group of consumers in a heartbeat (Java: ``ConsumerData``)."""
    return {
        "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
        "consumeType": kind,
        "groupName": group,
        "messageModel": model,
        "subscriptionDataSet": [subscription()] if subscriptions is None else list(subscriptions),
        "unitMode": False,
    }


def beat(
    *groups: dict[str, object],
    client: str = "{client}",
    producers: Sequence[str] = (),
    on: str = MAIN,
    outcomes: Sequence[Outcome] = (OK,),
) -> Ask:
    body: dict[str, Any] = {
        "clientID": client,
        "consumerDataSet": list(groups),
        "producerDataSet": [{"groupName": group} for group in producers],
    }
    return ask(34, {}, *outcomes, body=body, on=on)


def leave(*, client: str = "{client}", group: str = "{group}", on: str = MAIN) -> Ask:
    return ask(35, {"clientID": client, "consumerGroup": group}, on=on)


def members_changed(*, on: str = MAIN, group: str = "{group}", within: float = 10.0) -> Expect:
    request = Incoming(code=40, ext={"consumerGroup": group}, flag=ANY, body=ANY)
    return Expect((request,), on, within)


def check_client(text: str, *outcomes: Outcome, kind: str = "SQL92") -> Ask:
    body: dict[str, Any] = {
        "clientId": "{client}",
        "group": "{group}",
        "subscriptionData": subscription(text=text, kind=kind),
    }
    return ask(46, {}, *outcomes, body=body)
