"""Faults of a name server in side effects of a request, each with a case that must notice it."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rocketwire.flags import CommandFlag
from rocketwire.wire.command import RemotingCommand
from tests.integration.conformance.defects import asks, body, ignore, quote, text, value
from tests.integration.conformance.proxy import Ask, Defect, Memory, Raw


def header(old: bytes, new: bytes) -> Raw:
    """The headers of answers are written otherwise."""
    return lambda written: re.sub(old, new, written)


def echoes_version(
    request: RemotingCommand, response: RemotingCommand, _: Memory
) -> RemotingCommand:
    """Answers have the version of the client."""
    return replace(response, version=request.version)


def rotate(responses: list[RemotingCommand]) -> list[RemotingCommand]:
    """Each answer bears the number of the next one."""
    following = [*responses[1:], responses[0]]
    return [
        replace(item, opaque=two.opaque) for item, two in zip(responses, following, strict=True)
    ]


def same_routes(responses: list[RemotingCommand]) -> list[RemotingCommand]:
    """All routes that are asked for together are the first one."""
    routes = [
        item.body for item in responses if item.body and item.body.startswith(b'{"brokerDatas"')
    ]
    return [replace(item, body=routes[0]) if item.body in routes else item for item in responses]


def of_another_connection(
    request: RemotingCommand, response: RemotingCommand, memory: Memory
) -> RemotingCommand:
    """The first answer under a number is given on all connections."""
    if request.opaque < 1000:
        return response
    return memory.kept.setdefault((request.opaque, request.code), response)


def twice(code: int) -> Callable[[list[RemotingCommand]], list[RemotingCommand]]:
    """Answers of that code, of several that are asked for together, are given twice."""
    return lambda responses: [item for item in responses for _ in range(1 + (item.code == code))]


def fields_of(request: RemotingCommand) -> dict[str, str]:
    return dict(request.ext_fields or {})


def table_of(request: RemotingCommand) -> dict[str, Any]:
    """The topics of a registration in JSON."""
    read: dict[str, Any] = json.loads(request.body or b"{}")
    wrapper: dict[str, Any] = read.get("topicConfigSerializeWrapper") or {}
    return wrapper.get("topicConfigTable") or {}


def one_way(request: RemotingCommand, code: int, **fields: str) -> RemotingCommand:
    return replace(request, code=code, ext_fields=fields, body=None, flag=CommandFlag.ONEWAY)


def one_replaces_all(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """A registration of one topic removes the broker's others."""
    fields = fields_of(request)
    if request.code != 103 or "compressed" in fields or len(table := table_of(request)) > 1:
        memory.kept[fields.get("brokerName")] = request
        return [request]
    earlier = memory.kept.get(fields.get("brokerName"))
    topics = table_of(earlier) if earlier and earlier.code == 103 else {}
    return [*(one_way(request, 216, topic=name) for name in topics if name not in table), request]


def one_is_ignored(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """A registration of one topic does nothing."""
    if request.code == 103 and "compressed" not in fields_of(request):
        return ignore(103)(request, memory) if len(table_of(request)) == 1 else [request]
    return [request]


def change_packed(change: Callable[[dict[str, str]], dict[str, str]]) -> Ask:
    """The server sees other ext fields of packed registrations."""

    def change_fields(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        fields = fields_of(request)
        if request.code != 103 or "compressed" not in fields:
            return [request]
        return [replace(request, ext_fields=change(fields))]

    return change_fields


def one_cluster_for_an_address(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """A registration removes what another cluster has at the address."""
    fields = fields_of(request)
    strangers = [
        item
        for item in memory.registered
        if item.get("brokerAddr") == fields.get("brokerAddr")
        and item.get("clusterName") != fields.get("clusterName")
    ]
    if request.code != 103:
        return [request]
    return [*(one_way(request, 104, **stranger) for stranger in strangers), request]


def others_are(code: int) -> Ask:
    """A registration also does this to each other broker."""

    def change(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
        broker_name = fields_of(request).get("brokerName")
        names = {
            item["brokerName"]
            for item in memory.registered
            if item.get("brokerName") != broker_name
        }
        if request.code != 103:
            return [request]
        return [*(one_way(request, code, brokerName=name or "") for name in names), request]

    return change


def whoever_asks_owns(request: RemotingCommand, memory: Memory) -> list[RemotingCommand]:
    """The connection that last used a broker's address counts as the broker's."""
    address = fields_of(request).get("brokerAddr")
    if request.code == 103:
        memory.kept[address] = request
    if request.code != 904 or address not in memory.kept:
        return [request]
    return [replace(memory.kept[address], flag=CommandFlag.ONEWAY), request]


def own_entries(
    request: RemotingCommand, response: RemotingCommand, memory: Memory
) -> RemotingCommand:
    """Only the connection that stored a KV entry finds it."""
    key = fields_of(request).get("key")
    if request.code == 100:
        memory.kept[memory.link, key] = request
    if request.code != 101 or (memory.link, key) in memory.kept:
        return response
    return replace(response, code=22, ext_fields={}, remark="No config item")


def spell(name: str, change: Callable[[str], str], *codes: int) -> Ask:
    """The server sees an ext field of these codes spelled otherwise."""

    def change_fields(request: RemotingCommand, _: Memory) -> list[RemotingCommand]:
        fields = fields_of(request)
        if request.code not in codes or name not in fields:
            return [request]
        return [replace(request, ext_fields=fields | {name: change(fields[name])})]

    return change_fields


def filter_list(keep: Callable[[str], bool]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A list lacks some topics."""
    return lambda members: members | {"topicList": [*filter(keep, members["topicList"])]}


def fold_case(members: dict[str, Any]) -> dict[str, Any]:
    """Of topics whose names differ by case, one is listed."""
    return members | {
        "topicList": [*{name.lower(): name for name in members["topicList"]}.values()]
    }


FRAMES = (
    Defect("names of members bare", "ns/206/1", raw=header(rb'"(\w+)":', rb"\1:")),
    Defect("version as a text", "ns/206/1", raw=header(rb'(n":)(\d+)}$', rb'\1"\2"}')),
    Defect("opaque as a text", "ns/206/1", raw=header(rb'"opaque":(\d+)', rb'"opaque":"\1"')),
    Defect("code as a text", "ns/206/1", raw=header(rb'"code":(\d+)', rb'"code":"\1"')),
    Defect(
        "ext field as a number", "ns/205/1", raw=header(rb'("wipeTopicCount":)"(\d+)"', rb"\1\2")
    ),
    Defect("ext field as a boolean", "ns/322/1", raw=header(rb'("changed":)"(\w+)"', rb"\1\2")),
    Defect("language in small letters", "ns/206/1", raw=header(b"JAVA", b"java")),
    Defect("language missing", "ns/206/1", raw=header(b'"language":"JAVA",', b"")),
    Defect("remark null", "ns/206/1", raw=header(b'"flag"', b'"remark":null,"flag"')),
    Defect("a member twice", "ns/206/1", raw=header(b'"flag":1', b'"flag":1,"flag":1')),
    Defect(
        "binary is said in a JSON header",
        "ns/206/1",
        raw=header(b'RPC":"JSON"', b'RPC":"ROCKETMQ"'),
    ),
    Defect("version 0", "ns/206/1", raw=header(rb'"version":\d+', b'"version":0')),
    Defect("the client's version", "ns/103/180", answer=echoes_version),
    Defect("quoted keys of clusters", "ns/103/11", answer=text(106, quote)),
    Defect("quoted keys of members", "ns/901/1", answer=text(901, quote)),
    Defect(
        "apostrophes in a list", "ns/206/1", answer=text(206, lambda old: old.replace('"', "'"))
    ),
    Defect(
        "a comma too many in a route",
        "ns/103/1",
        answer=text(105, lambda old: old.replace("]", ",]", 1)),
    ),
    Defect("answers turned in flight", "transport/40", in_flight=rotate),
    Defect("routes mixed up in flight", "ns/105/21", in_flight=same_routes),
    Defect("answer of another connection", "transport/40", answer=of_another_connection),
    Defect("unknown codes answered twice", "transport/40", in_flight=twice(3)),
    Defect("an answer lost in flight", "transport/40", in_flight=lambda all_: all_[1:]),
)
STATE = (
    Defect("one topic replaces all", "ns/103/220", ask=one_replaces_all),
    Defect("one topic is ignored", "ns/103/220", ask=one_is_ignored),
    Defect(
        "checksum of packed registrations wrong",
        "ns/103/222",
        ask=change_packed(lambda fields: fields | {"bodyCrc32": "77"}),
    ),
    Defect(
        "checksum of packed registrations not looked at",
        "ns/103/222",
        ask=change_packed(lambda fields: fields | {"bodyCrc32": "0"}),
    ),
    Defect("one cluster for an address", "ns/103/223", ask=one_cluster_for_an_address),
    Defect("a registration wipes others", "ns/103/1", ask=others_are(205)),
    Defect("a registration opens others", "ns/mapping/1", ask=others_are(327)),
    Defect("who asks about a broker owns it", "ns/close/7", ask=whoever_asks_owns),
    Defect("whose connection is reset owned it", "ns/close/8", ask=whoever_asks_owns),
    Defect("KV entries of one connection", "ns/100/1", answer=own_entries),
    Defect("KV values cut", "ns/100/30", answer=value(lambda old: old[:32_767])),
    Defect("KV values on one line", "ns/100/30", answer=value(lambda old: old.rstrip("\n"))),
    Defect("KV keys fold case", "ns/100/30", ask=spell("key", str.lower, 100, 101, 102)),
    Defect("KV keys trimmed", "ns/100/30", ask=spell("key", str.strip, 100, 101, 102)),
    Defect(
        "retry topics not listed",
        "ns/206/4",
        answer=body(206, filter_list(lambda name: not name.startswith("%"))),
    ),
    Defect(
        "system topics not listed",
        "ns/206/4",
        answer=body(206, filter_list(lambda name: name.lower()[:7] != "rmq_sys")),
    ),
    Defect(
        "template topic not in its cluster",
        "ns/206/4",
        answer=body(224, filter_list(lambda name: name != "TBW102")),
    ),
    Defect("lists fold case", "ns/206/5", answer=body(206, fold_case)),
    Defect("routes fold case", "ns/206/5", ask=spell("topic", str.lower, 105)),
    Defect("clusters fold case", "ns/206/5", ask=spell("cluster", str.lower, 224)),
    Defect("wiping folds case", "ns/206/5", ask=spell("brokerName", str.lower, 205)),
    Defect(
        "properties not shown",
        "ns/319/1",
        answer=text(319, lambda old: re.sub("waitSeconds.*\n", "", old)),
    ),
    Defect("properties not set", "ns/318/7", ask=asks(318, 327)),
    Defect("a minute idle is too long", "idle/6", idle_seconds=15.0),
)
