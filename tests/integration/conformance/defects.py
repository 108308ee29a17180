"""Things that a name server could do wrong, each with the case that has to notice."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand
from tests.integration.conformance.proxy import Defect, Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.conformance.proxy import Ask, Response


def answers(of: int, /, **changes: Any) -> Response:
    """Answers to requests of that code (0: of any) have these members instead."""

    def change(request: RemotingCommand, response: RemotingCommand, _: Memory) -> RemotingCommand:
        return replace(response, **changes) if of in {0, request.code} else response

    return change


def failures(of: int, /, **changes: Any) -> Response:
    """Likewise, of answers that are no success."""

    def change(request: RemotingCommand, response: RemotingCommand, _: Memory) -> RemotingCommand:
        return replace(response, **changes) if request.code == of and response.code else response

    return change


def ext(code: int, **changes: str | None) -> Response:
    """Ext fields of successes of that code are changed, or left out."""

    def change(request: RemotingCommand, response: RemotingCommand, _: Memory) -> RemotingCommand:
        if request.code != code or response.code:
            return response
        fields: dict[str, str | None] = {**(response.ext_fields or {}), **changes}
        return replace(
            response, ext_fields={key: text for key, text in fields.items() if text is not None}
        )

    return change


def text(code: int, change_text: Callable[[str], str]) -> Response:
    """The text of bodies of that code is changed."""

    def change(request: RemotingCommand, response: RemotingCommand, _: Memory) -> RemotingCommand:
        if request.code != code or not response.body:
            return response
        return replace(response, body=change_text(response.body.decode()).encode())

    return change


def body(code: int, change_value: Callable[[Any], Any]) -> Response:
    """The JSON of bodies of that code is changed; for bodies in standard JSON."""
    return text(code, lambda old: json.dumps(change_value(json.loads(old)), ensure_ascii=False))


def without_ext(code: int, *names: str) -> Ask:
    """The server does not see these ext fields of requests of that code."""

    def change(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        if request.code != code or request.ext_fields is None:
            return [request]
        kept = {key: value for key, value in request.ext_fields.items() if key not in names}
        return [replace(request, ext_fields=kept)]

    return change


def asks(code: int, instead: int) -> Ask:
    """The server is asked something else."""

    def change(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        return [replace(request, code=instead)] if request.code == code else [request]

    return change


def ignore(code: int) -> Ask:
    """Requests of that code do nothing, and are answered as successes."""

    def change(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        nothing = RemotingCommand(code=102, opaque=request.opaque, ext_fields={"namespace": "-"})
        return [replace(nothing, flag=request.flag)] if request.code == code else [request]

    return change


def only_first(code: int) -> Ask:
    """Of requests of that code only the first counts."""

    def change(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
        if request.code != code or memory.seen.setdefault(code, request) is request:
            return [request]
        return ignore(code)(request, memory)

    return change


def too_much(code: int) -> Ask:
    """A request for one broker changes all registered ones."""

    def change(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
        if request.code != code:
            return [request]
        more = [
            replace(request, ext_fields=fields, flag=CommandFlag.ONEWAY)
            for fields in memory.registered
        ]
        return [*more, request]

    return change


def change_body(code: int, old: bytes, new: bytes) -> Ask:
    """The server sees other bytes in the bodies of that code."""

    def change(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        if request.code != code or not request.body:
            return [request]
        return [replace(request, body=request.body.replace(old, new))]

    return change


def stale(request: RemotingCommand, response: RemotingCommand, memory: Memory) -> RemotingCommand:
    """A route is answered as it was at first."""
    topic = (request.ext_fields or {}).get("topic")
    if request.code != 105 or response.code:
        return response
    return replace(memory.seen.setdefault(topic, response), opaque=response.opaque)


def right_address(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """An unregistration is carried out whatever address it names."""
    fields = dict(request.ext_fields or {})
    if request.code != 104:
        return [request]
    for known in memory.registered:
        if known.get("brokerName") == fields.get("brokerName"):
            fields["brokerAddr"] = known["brokerAddr"]
    return [replace(request, ext_fields=fields)]


def refuse_packed(
    request: RemotingCommand, response: RemotingCommand, _: Memory
) -> RemotingCommand:
    """Packed registrations are not understood."""
    if request.code != 103 or "compressed" not in (request.ext_fields or {}):
        return response
    return replace(response, code=1, remark="what is this")


def number(change: Callable[[int], int]) -> Response:
    """Answers bear another number."""
    return lambda _, response, __: replace(response, opaque=change(response.opaque))


def reply_to(flag: CommandFlag) -> Callable[[RemotingCommand], RemotingCommand | None]:
    """Requests with this flag are answered."""

    def reply(request: RemotingCommand) -> RemotingCommand | None:
        if not request.flag & flag:
            return None
        return RemotingCommand(code=0, opaque=request.opaque, flag=CommandFlag.RESPONSE)

    return reply


def halve(route: dict[str, Any]) -> dict[str, Any]:
    """Queue numbers are too small."""
    for queues in route["queueDatas"]:
        queues["readQueueNums"] //= 2
    return route


def first_broker(route: dict[str, Any]) -> dict[str, Any]:
    """Only one broker is named."""
    return route | {"brokerDatas": route["brokerDatas"][:1]}


def unlike(name: str, value: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A member has another value."""
    return lambda members: members | {name: value}


def queues_with(name: str, value: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A member of all queue data has another value."""
    return lambda route: (
        route | {"queueDatas": [queues | {name: value} for queues in route["queueDatas"]]}
    )


def bare(old: str) -> str:
    """Integer keys without quotation marks."""
    return re.sub(r'"(\d+)":', r"\1:", old)


def quote(old: str) -> str:
    """Integer keys with quotation marks."""
    return re.sub(r"([{,])(\d+):", r'\1"\2":', old)


def reverse_ids(route: dict[str, Any]) -> dict[str, Any]:
    """Brokers' ids in the wrong order."""
    for broker in route["brokerDatas"]:
        broker["brokerAddrs"] = dict(reversed(broker["brokerAddrs"].items()))
    return route


def lacks_one(topics: dict[str, Any]) -> dict[str, Any]:
    """A list without its last."""
    return topics | {"topicList": sorted(topics["topicList"])[:0]}


DEFECTS = (
    Defect(name="opaque off by one", case="transport/5", answer=number(lambda old: old + 1)),
    Defect(name="opaque without its sign", case="header/34", answer=number(abs)),
    Defect(name="answers with the one-way flag", case="transport/5", answer=answers(0, flag=3)),
    Defect(name="bad frames leave the connection open", case="transport/10", stays_open=True),
    Defect(
        name="one-way requests are answered", case="header/101", reply=reply_to(CommandFlag.ONEWAY)
    ),
    Defect(name="responses are answered", case="header/100", reply=reply_to(CommandFlag.RESPONSE)),
    Defect(
        name="wrong code for unknown requests", case="header/106", answer=failures(9999, code=1)
    ),
    Defect(
        name="remark of unknown requests trimmed",
        case="header/106",
        answer=answers(9999, remark="request type 9999 not supported"),
    ),
    Defect(name="wrong code for a missing route", case="ns/105/1", answer=failures(105, code=1)),
    Defect(
        name="no remark for a missing route", case="ns/105/1", answer=failures(105, remark=None)
    ),
    Defect(
        name="a missing route is an empty success",
        case="ns/105/2",
        answer=failures(105, code=0, remark=None),
    ),
    Defect(name="stale route", case="ns/103/6", answer=stale),
    Defect(
        name="route that outlives its broker",
        case="ns/104/1",
        answer=failures(105, code=0, remark=None, body=b"{}"),
    ),
    Defect(name="dialect swapped for new clients", case="ns/105/5", answer=text(105, bare)),
    Defect(name="dialect swapped for old clients", case="ns/105/6", answer=text(105, quote)),
    Defect(
        name="acceptStandardJsonOnly not seen",
        case="ns/105/7",
        ask=without_ext(105, "acceptStandardJsonOnly"),
    ),
    Defect(name="ids out of order", case="ns/105/13", answer=body(105, reverse_ids)),
    Defect(name="a route names one broker only", case="ns/105/12", answer=body(105, first_broker)),
    Defect(name="too few queues", case="ns/103/1", answer=body(105, halve)),
    Defect(
        name="flags of topics lost",
        case="ns/105/20",
        answer=body(105, queues_with("topicSysFlag", 0)),
    ),
    Defect(name="permissions always 6", case="ns/205/1", answer=body(105, queues_with("perm", 6))),
    Defect(
        name="KV value trimmed",
        case="ns/100/27",
        answer=lambda request, response, _: (
            replace(response, ext_fields={"value": response.ext_fields["value"].strip()})
            if request.code == 101 and response.ext_fields
            else response
        ),
    ),
    Defect(name="KV value lost", case="ns/100/1", answer=ext(101, value=None)),
    Defect(name="KV values are written once", case="ns/100/3", ask=only_first(100)),
    Defect(name="KV list empty", case="ns/100/4", answer=body(219, unlike("table", {}))),
    Defect(name="KV entries are not deleted", case="ns/102/1", ask=ignore(102)),
    Defect(name="wrong code for a missing KV entry", case="ns/101/1", answer=failures(101, code=1)),
    Defect(
        name="no remark for a missing KV entry", case="ns/101/1", answer=failures(101, remark=None)
    ),
    Defect(
        name="KV without a namespace accepted",
        case="ns/100/5",
        answer=failures(100, code=0, remark=None),
    ),
    Defect(
        name="slaves are not told their master", case="ns/103/2", answer=ext(103, masterAddr=None)
    ),
    Defect(
        name="single topic of an unknown broker accepted",
        case="ns/103/4",
        answer=failures(103, code=0, remark=None),
    ),
    Defect(name="checksum not looked at", case="ns/103/100", ask=without_ext(103, "bodyCrc32")),
    Defect(name="registrations count once", case="ns/103/6", ask=only_first(103)),
    Defect(name="packed registrations refused", case="ns/103/150", answer=refuse_packed),
    Defect(name="unregistering removes too much", case="ns/104/2", ask=too_much(104)),
    Defect(name="unregistering whatever the address", case="ns/104/4", ask=right_address),
    Defect(name="unregistering does nothing", case="ns/104/1", ask=ignore(104)),
    Defect(name="closing does not unregister", case="ns/close/1", forgets_to_close=True),
    Defect(name="data versions always changed", case="ns/322/1", answer=ext(322, changed="true")),
    Defect(name="data version not shown", case="ns/322/2", answer=answers(322, body=None)),
    Defect(name="heartbeats refused", case="ns/904/1", answer=answers(904, code=1)),
    Defect(name="wiping does nothing", case="ns/205/1", ask=asks(205, 327)),
    Defect(name="wiping counts wrong", case="ns/205/2", answer=ext(205, wipeTopicCount="0")),
    Defect(name="wiping reaches other brokers", case="ns/205/4", ask=too_much(205)),
    Defect(name="adding permission does nothing", case="ns/327/3", ask=asks(327, 205)),
    Defect(
        name="a topic's cluster is not looked at",
        case="ns/216/2",
        ask=without_ext(216, "clusterName"),
    ),
    Defect(name="topics are not deleted", case="ns/216/1", ask=ignore(216)),
    Defect(name="topics are not made", case="ns/217/1", ask=ignore(217)),
    Defect(name="topic list empty", case="ns/206/1", answer=body(206, lacks_one)),
    Defect(name="a cluster's topics are everybody's", case="ns/224/1", ask=asks(224, 206)),
    Defect(name="unit lists swapped", case="ns/311/1", ask=asks(311, 312)),
    Defect(name="unit topics among those that are none", case="ns/313/1", ask=asks(313, 312)),
    Defect(
        name="group without its addresses",
        case="ns/901/1",
        answer=text(901, lambda _: '{"brokerMemberGroup":{"brokerAddrs":{}}}'),
    ),
    Defect(name="zones do not filter", case="ns/zone/1", ask=without_ext(105, "__ZONE_MODE")),
    Defect(name="zones are not kept", case="ns/zone/12", ask=without_ext(103, "__ZONE_NAME")),
    Defect(
        name="filter servers lost",
        case="ns/filter/1",
        answer=body(105, unlike("filterServerTable", {})),
    ),
    Defect(
        name="no list of filter servers empties it",
        case="ns/filter/3",
        ask=change_body(103, b'"filterServerList":null', b'"filterServerList":[]'),
    ),
    Defect(
        name="mappings lost",
        case="ns/mapping/1",
        answer=text(105, lambda old: re.sub(r',"topicQueueMappingByBroker":\{.*\}\}', "}", old)),
    ),
    Defect(
        name="enableActingMaster lost",
        case="ns/acting/5",
        ask=without_ext(103, "enableActingMaster"),
    ),
)
