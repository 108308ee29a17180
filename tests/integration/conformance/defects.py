"""Faults of a name server, each with the case that must notice it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand
from tests.integration.conformance.proxy import Ask, Defect, Memory, Response


def change_responses(code: int, change: Callable[[RemotingCommand], RemotingCommand]) -> Response:
    """Responses to requests of a code (0: of any) are changed."""
    return lambda request, response, _: change(response) if code in {0, request.code} else response


def answers(code: int, /, **changes: Any) -> Response:
    """Responses to requests of a code (0: of any) have these members instead."""
    return change_responses(code, lambda response: replace(response, **changes))


def failures(code: int, /, **changes: Any) -> Response:
    """Failures of a code have these members instead."""
    return change_responses(
        code, lambda response: replace(response, **changes) if response.code else response
    )


def ext(code: int, **changes: str | None) -> Response:
    """Ext fields of successes of that code are changed, or left out."""

    def change(response: RemotingCommand) -> RemotingCommand:
        fields: dict[str, str | None] = {**(response.ext_fields or {}), **changes}
        kept = {key: text for key, text in fields.items() if text is not None}
        return response if response.code else replace(response, ext_fields=kept)

    return change_responses(code, change)


def text(code: int, change_text: Callable[[str], str]) -> Response:
    """The text of bodies of that code is changed."""

    def change(response: RemotingCommand) -> RemotingCommand:
        body = response.body
        return replace(response, body=change_text(body.decode()).encode()) if body else response

    return change_responses(code, change)


def body(code: int, change_value: Callable[[Any], Any]) -> Response:
    """The JSON of bodies of that code is changed; for bodies in standard JSON."""
    return text(code, lambda old: json.dumps(change_value(json.loads(old)), ensure_ascii=False))


def value(change: Callable[[str], str]) -> Response:
    """KV values are returned otherwise."""

    def change_value(response: RemotingCommand) -> RemotingCommand:
        fields = response.ext_fields or {}
        if "value" not in fields:
            return response
        return replace(response, ext_fields={"value": change(fields["value"])})

    return change_responses(101, change_value)


def change_requests(code: int, change: Callable[[RemotingCommand], RemotingCommand]) -> Ask:
    """The server sees other requests in place of those of a code."""
    return lambda request, _: [change(request) if request.code == code else request]


def without_ext(code: int, *names: str) -> Ask:
    """The server does not see these ext fields of requests of that code."""

    def change(request: RemotingCommand) -> RemotingCommand:
        fields = request.ext_fields or {}
        kept = {key: value for key, value in fields.items() if key not in names}
        return replace(request, ext_fields=kept)

    return change_requests(code, change)


def asks(code: int, instead: int) -> Ask:
    """The server is asked something else."""
    return change_requests(code, lambda request: replace(request, code=instead))


def ignore(code: int) -> Ask:
    """Requests of that code do nothing, and are answered as successes."""
    nothing = RemotingCommand(code=102, ext_fields={"namespace": "-"})
    return change_requests(
        code, lambda request: replace(nothing, opaque=request.opaque, flag=request.flag)
    )


def only_first(code: int) -> Ask:
    """Of requests of that code only the first counts."""

    def change(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
        if request.code != code or memory.kept.setdefault(code, request) is request:
            return [request]
        return ignore(code)(request, memory)

    return change


def too_much(code: int) -> Ask:
    """A request for one broker changes all registered ones."""

    def change(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
        if request.code != code:
            return [request]
        requests = [
            replace(request, ext_fields=fields, flag=CommandFlag.ONEWAY)
            for fields in memory.registered
        ]
        return [*requests, request]

    return change


def change_body(code: int, old: bytes, new: bytes) -> Ask:
    """The server sees other bytes in the bodies of that code."""

    return change_requests(
        code, lambda request: replace(request, body=(request.body or b"").replace(old, new))
    )


def stale(request: RemotingCommand, response: RemotingCommand, memory: Memory) -> RemotingCommand:
    """A route is answered as it was at first."""
    topic = (request.ext_fields or {}).get("topic")
    if request.code != 105 or response.code:
        return response
    return replace(memory.kept.setdefault(topic, response), opaque=response.opaque)


def right_address(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """An unregistration is carried out whatever address it names."""
    fields = dict(request.ext_fields or {})
    if request.code != 104:
        return [request]
    for registered in memory.registered:
        if registered.get("brokerName") == fields.get("brokerName"):
            fields["brokerAddr"] = registered["brokerAddr"]
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
    Defect("opaque off by one", "transport/5", answer=number(lambda old: old + 1)),
    Defect("opaque without its sign", "header/34", answer=number(abs)),
    Defect("answers with the one-way flag", "transport/5", answer=answers(0, flag=3)),
    Defect("bad frames leave the connection open", "transport/10", stays_open=True),
    Defect("one-way requests are answered", "header/101", reply=reply_to(CommandFlag.ONEWAY)),
    Defect("responses are answered", "header/100", reply=reply_to(CommandFlag.RESPONSE)),
    Defect("wrong code for unknown requests", "header/106", answer=failures(9999, code=1)),
    Defect(
        "remark of unknown requests trimmed",
        "header/106",
        answer=answers(9999, remark="request type 9999 not supported"),
    ),
    Defect("wrong code for a missing route", "ns/105/1", answer=failures(105, code=1)),
    Defect("no remark for a missing route", "ns/105/1", answer=failures(105, remark=None)),
    Defect(
        "a missing route is an empty success", "ns/105/2", answer=failures(105, code=0, remark=None)
    ),
    Defect("stale route", "ns/103/6", answer=stale),
    Defect(
        "route that outlives its broker",
        "ns/104/1",
        answer=failures(105, code=0, remark=None, body=b"{}"),
    ),
    Defect("dialect swapped for new clients", "ns/105/5", answer=text(105, bare)),
    Defect("dialect swapped for old clients", "ns/105/6", answer=text(105, quote)),
    Defect(
        "acceptStandardJsonOnly not seen",
        "ns/105/7",
        ask=without_ext(105, "acceptStandardJsonOnly"),
    ),
    Defect("ids out of order", "ns/105/13", answer=body(105, reverse_ids)),
    Defect("a route names one broker only", "ns/105/12", answer=body(105, first_broker)),
    Defect("too few queues", "ns/103/1", answer=body(105, halve)),
    Defect("flags of topics lost", "ns/105/20", answer=body(105, queues_with("topicSysFlag", 0))),
    Defect("permissions always 6", "ns/205/1", answer=body(105, queues_with("perm", 6))),
    Defect("KV value trimmed", "ns/100/27", answer=value(str.strip)),
    Defect("KV value lost", "ns/100/1", answer=ext(101, value=None)),
    Defect("KV values are written once", "ns/100/3", ask=only_first(100)),
    Defect("KV list empty", "ns/100/4", answer=body(219, unlike("table", {}))),
    Defect("KV entries are not deleted", "ns/102/1", ask=ignore(102)),
    Defect("wrong code for a missing KV entry", "ns/101/1", answer=failures(101, code=1)),
    Defect("no remark for a missing KV entry", "ns/101/1", answer=failures(101, remark=None)),
    Defect(
        "KV without a namespace accepted", "ns/100/5", answer=failures(100, code=0, remark=None)
    ),
    Defect("slaves get no master", "ns/103/2", answer=ext(103, masterAddr=None)),
    Defect(
        "single topic of an unknown broker accepted",
        "ns/103/4",
        answer=failures(103, code=0, remark=None),
    ),
    Defect("checksum not looked at", "ns/103/100", ask=without_ext(103, "bodyCrc32")),
    Defect("registrations count once", "ns/103/6", ask=only_first(103)),
    Defect("packed registrations refused", "ns/103/150", answer=refuse_packed),
    Defect("unregistering removes too much", "ns/104/2", ask=too_much(104)),
    Defect("unregistering whatever the address", "ns/104/4", ask=right_address),
    Defect("unregistering does nothing", "ns/104/1", ask=ignore(104)),
    Defect("closing does not unregister", "ns/close/1", forgets_to_close=True),
    Defect("data versions always changed", "ns/322/1", answer=ext(322, changed="true")),
    Defect("data version not shown", "ns/322/2", answer=answers(322, body=None)),
    Defect("heartbeats refused", "ns/904/1", answer=answers(904, code=1)),
    Defect("wiping does nothing", "ns/205/1", ask=asks(205, 327)),
    Defect("wiping counts wrong", "ns/205/2", answer=ext(205, wipeTopicCount="0")),
    Defect("wiping reaches other brokers", "ns/205/4", ask=too_much(205)),
    Defect("adding permission does nothing", "ns/327/3", ask=asks(327, 205)),
    Defect("a topic's cluster is not looked at", "ns/216/2", ask=without_ext(216, "clusterName")),
    Defect("topics are not deleted", "ns/216/1", ask=ignore(216)),
    Defect("topics are not made", "ns/217/1", ask=ignore(217)),
    Defect("topic list empty", "ns/206/1", answer=body(206, lacks_one)),
    Defect("a cluster's topics are those of all", "ns/224/1", ask=asks(224, 206)),
    Defect("unit lists swapped", "ns/311/1", ask=asks(311, 312)),
    Defect("unit topics among those that are none", "ns/313/1", ask=asks(313, 312)),
    Defect(
        "group without its addresses",
        "ns/901/1",
        answer=text(901, lambda _: '{"brokerMemberGroup":{"brokerAddrs":{}}}'),
    ),
    Defect("zones do not filter", "ns/zone/1", ask=without_ext(105, "__ZONE_MODE")),
    Defect("zones are not kept", "ns/zone/12", ask=without_ext(103, "__ZONE_NAME")),
    Defect("filter servers lost", "ns/filter/1", answer=body(105, unlike("filterServerTable", {}))),
    Defect(
        "no list of filter servers empties it",
        "ns/filter/3",
        ask=change_body(103, b'"filterServerList":null', b'"filterServerList":[]'),
    ),
    Defect(
        "mappings lost",
        "ns/mapping/1",
        answer=text(105, lambda old: re.sub(r',"topicQueueMappingByBroker":\{.*\}\}', "}", old)),
    ),
    Defect("enableActingMaster lost", "ns/acting/5", ask=without_ext(103, "enableActingMaster")),
)
