"""Golden packets from the frames of a tap: pairing, naming, choosing, and writing files with their manifest entries."""

import json
import re
import struct
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from rocketwire.codes import RequestCode
from tests.peers import manifest
from tests.peers.peers import JavaPeer
from tests.support.hex_text import frame_text
from tests.support.tap import TO_CLIENT, TO_SERVER, Tap, TappedFrame

LARGEST = 12_000
"""Bytes; a bigger packet shows nothing that a smaller one does not."""

LEFT_OUT = frozenset({26, 28, 21, 43, 45, 201, 14})
"""Answers that describe the machine (configuration, run time, disks) or whole tables of a broker, and chatter of slaves."""

GIVES_AWAY = re.compile(
    rb"/(?:root|home|tmp|work|usr|var)/|\b(?!127\.|0\.0\.0\.0)\d{1,3}\.\d+\.\d+\.\d+:"
)
"""A path of the machine, or an address that is not loopback."""

ESCAPED_BY_FASTJSON_1 = re.compile(rb"\\u(?:007F|00[89][0-9A-F]|202[89])")

_PROTOCOL = "org.apache.rocketmq.remoting.protocol."
_TOPIC_LIST = _PROTOCOL + "body.TopicList"
_ROUTE = _PROTOCOL + "route.TopicRouteData"

REQUEST_BODIES = {
    34: _PROTOCOL + "heartbeat.HeartbeatData",
    103: _PROTOCOL + "body.RegisterBrokerBody",
    217: _ROUTE,
    322: _PROTOCOL + "DataVersion",
}
RESPONSE_BODIES = {
    38: _PROTOCOL + "header.GetConsumerListByGroupResponseBody",
    103: _PROTOCOL + "body.KVTable",
    105: _ROUTE,
    106: _PROTOCOL + "body.ClusterInfo",
    206: _TOPIC_LIST,
    219: _PROTOCOL + "body.KVTable",
    224: _TOPIC_LIST,
    304: _TOPIC_LIST,
    311: _TOPIC_LIST,
    312: _TOPIC_LIST,
    313: _TOPIC_LIST,
    322: _PROTOCOL + "DataVersion",
    901: _PROTOCOL + "body.GetBrokerMemberGroupResponseBody",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One frame that is kept: ``exchange`` names its pair, its place there, and the code."""

    name: str
    direction: str
    how: str
    data: bytes
    code: int
    is_response: bool


@dataclass(slots=True)
class Recorder:
    folder: str
    product: str
    frames: JavaPeer
    packets: list[Packet] = field(default_factory=list[Packet])

    def facts(self, data: bytes, body_class: str = "") -> dict[str, object]:
        answer = json.loads(self.frames.line(f"{data.hex()}\t{body_class}"))
        if "error" in answer:
            raise ValueError(f"Java cannot read {data[:300]!r}: {answer['error']}")
        return cast("dict[str, object]", answer)

    def keep(
        self, name: str, ends: tuple[str, str], how: str, request: bytes, response: bytes | None
    ) -> None:
        """Keep one exchange under a name of its own.

        ``ends`` are the asking and the answering product; ``how`` says how to make it happen again.
        """
        code = cast("int", self.facts(request)["code"])
        asking, answering = ends
        pairs = [(request, f"{name}.request", f"{asking} -> {answering}", False)]
        if response is not None:
            pairs.append((response, f"{name}.response", f"{answering} -> {asking}", True))
        for data, file, direction, is_response in pairs:
            if GIVES_AWAY.search(data):
                raise ValueError(f"{file} gives the machine away: {data!r}")
            packet = Packet(
                name=file,
                direction=direction,
                how=how,
                data=data,
                code=code,
                is_response=is_response,
            )
            self.packets.append(packet)

    def keep_kinds(self, tap: Tap, ends: tuple[str, str], how: str) -> None:
        # Keep the first exchange of every kind that went through a tap: by codes, form of body and presence of parts.
        keys: set[tuple[object, ...]] = set()
        names = {packet.name for packet in self.packets}
        for by_client, sent, answer in exchanges(tap.frames):
            request = self.facts(sent)
            response = None if answer is None else self.facts(answer)
            if not _is_recorded(request, sent, answer):
                continue
            key = _key(request, response)
            if key in keys:
                continue
            keys.add(key)
            name = _name(request, response, sent, names)
            names.add(f"{name}.request")
            self.keep(name, ends if by_client else (ends[1], ends[0]), how, sent, answer)

    def write(self) -> list[manifest.Entry]:
        # Write all packets and their expectations; returns their manifest entries.
        target = manifest.FIXTURES / "frames" / self.folder
        target.mkdir(parents=True, exist_ok=True)
        for old in target.iterdir():
            old.unlink()
        expected: dict[str, object] = {}
        entries: list[manifest.Entry] = []
        for packet in self.packets:
            expected[packet.name] = self._expectation(packet)
            file = f"frames/{self.folder}/{packet.name}.hex"
            title = f"{packet.direction}, {self.product}: {packet.how}"
            (manifest.FIXTURES / file).write_text(frame_text(packet.data, title), "utf-8")
            entries.append(
                {
                    "id": f"{self.folder}/{packet.name}",
                    "file": file,
                    "sha256": "",
                    "direction": packet.direction,
                    "origin": {"kind": "capture", "product": self.product, "how": packet.how},
                    "decodes_to": f"frames/{self.folder}/expected.json#{packet.name}",
                    "reencodes": reencodes(packet.data),
                }
            )
        text = json.dumps(expected, indent=1, ensure_ascii=False, sort_keys=True)
        (target / "expected.json").write_text(text + "\n", "utf-8")
        return entries

    def _expectation(self, packet: Packet) -> dict[str, object]:
        bodies = RESPONSE_BODIES if packet.is_response else REQUEST_BODIES
        facts = self.facts(packet.data)
        succeeded = not packet.is_response or facts["code"] == 0
        readable = packet.code in bodies and facts["body_length"] and succeeded
        if not readable:
            return facts
        try:
            return self.facts(packet.data, bodies[packet.code])
        except ValueError:
            return facts  # the body contradicts its own label: it cannot be read


def reencodes(data: bytes) -> bool | str:
    # Whether our encoder, which writes as 5.5.0 does, is expected to give these bytes again.
    if data[4] == 0 and ESCAPED_BY_FASTJSON_1.search(data):
        return "fastjson 1 (up to 5.3) escapes U+007F to U+009F, U+2028 and U+2029; 5.5.0 writes them as they are"
    return True


class Exchange(NamedTuple):
    """A request and its response; None where none was wanted.

    A server may ask too, hence ``by_client``.
    """

    by_client: bool
    request: bytes
    response: bytes | None


def exchanges(frames: list[TappedFrame]) -> list[Exchange]:
    # Pair each request with its response, in order of the requests; one that went unanswered is left out.
    pairs: list[Exchange] = []
    waiting: dict[tuple[int, str, int], int] = {}
    for _, connection, direction, data in frames:
        flag, opaque = _flag_and_opaque(data)
        if flag & 1:
            place = waiting.pop((connection, direction, opaque), None)
            if place is not None:
                pairs[place] = pairs[place]._replace(response=data)
            continue
        by_client = direction == TO_SERVER
        if not flag & 2:
            waiting[connection, TO_CLIENT if by_client else TO_SERVER, opaque] = len(pairs)
        pairs.append(Exchange(by_client, data, None))
    unanswered = set(waiting.values())
    return [pair for number, pair in enumerate(pairs) if number not in unanswered]


def _flag_and_opaque(data: bytes) -> tuple[int, int]:
    if data[4] == 1:
        opaque, flag = struct.unpack_from(">ii", data, 13)
        return flag, opaque
    header = json.loads(data[8 : 8 + int.from_bytes(data[5:8], "big")])
    return header["flag"], header["opaque"]


def _is_recorded(request: dict[str, object], sent: bytes, answer: bytes | None) -> bool:
    small = len(sent) <= LARGEST and (answer is None or len(answer) <= LARGEST)
    return request["code"] not in LEFT_OUT and small


def _key(request: dict[str, object], response: dict[str, object] | None) -> tuple[object, ...]:
    ext_fields = cast("dict[str, str] | None", request["ext_fields"]) or {}
    answered = None if response is None else (response["code"], bool(response["body_length"]))
    return (
        request["code"],
        request["language"],
        bool(request["body_length"]),
        tuple(sorted(ext_fields)),
        ext_fields.get("compressed"),
        answered,
    )


def _name(
    request: dict[str, object], response: dict[str, object] | None, sent: bytes, taken: set[str]
) -> str:
    name = RequestCode(cast("int", request["code"])).name.lower().replace("_", "-")
    if response is not None and response["code"] != 0:
        name += f"-code{response['code']}"
    if b"\x78\xda" in sent:
        name += "-deflated"
    number = 2
    unique = name
    while f"{unique}.request" in taken:
        unique = f"{name}-{number}"
        number += 1
    return unique
