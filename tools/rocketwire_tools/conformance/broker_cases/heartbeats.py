"""Heartbeats, and what clients tell of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocketwire.policy.java_strings import string_hash
from rocketwire_tools.conformance.broker_cases.common import OK, ask
from rocketwire_tools.conformance.model.outcomes import ANY, Incoming
from rocketwire_tools.conformance.model.steps import MAIN, Ask, Expect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.outcomes import Outcome


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
    """A heartbeat (34)."""
    body: dict[str, Any] = {
        "clientID": client,
        "consumerDataSet": list(groups),
        "producerDataSet": [{"groupName": group} for group in producers],
    }
    return ask(34, {}, *outcomes, body=body, on=on)


def leave(*, client: str = "{client}", group: str = "{group}", on: str = MAIN) -> Ask:
    """The client leaves its group (35)."""
    return ask(35, {"clientID": client, "consumerGroup": group}, on=on)


def members_changed(*, on: str = MAIN, group: str = "{group}", within: float = 10.0) -> Expect:
    """The broker tells that the members of the group have changed (40)."""
    request = Incoming(code=40, ext={"consumerGroup": group}, flag=ANY, body=ANY)
    return Expect((request,), on, within)


def check_client(text: str, *outcomes: Outcome, kind: str = "SQL92") -> Ask:
    """A client asks whether its subscription is valid (46)."""
    body: dict[str, Any] = {
        "clientId": "{client}",
        "group": "{group}",
        "subscriptionData": subscription(text=text, kind=kind),
    }
    return ask(46, {}, *outcomes, body=body)
