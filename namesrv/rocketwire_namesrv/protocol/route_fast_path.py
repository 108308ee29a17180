"""Route requests (105) answered straight from their bytes: nearly all that a name server is asked.

A client repeats itself: the header of its next request for a topic differs from the last one in the
opaque alone.  So what a header means is learnt once, and kept under its bytes up to the opaque.

Rules of this file: whatever is not exactly such a request is left to the general way, which gives
the same answer at its leisure.  A header is learnt only if reading it a second time, with another
opaque in the same place, says the same but for the opaque: JSON then says the same with any number
there.  What is learnt is bounded, and says nothing of the tables, which are asked each time.

Java: ``ClientRequestProcessor``.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.codes import LanguageCode, RequestCode, SerializeType
from rocketwire.errors import DecodeError
from rocketwire.flags import CommandFlag
from rocketwire.versions import MQVersion
from rocketwire.wire.binary_header import decode_binary_header
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire.wire.frame import MAX_FRAME_LENGTH
from rocketwire.wire.json_header import decode_json_header
from rocketwire.wire.layouts.functions import (
    LENGTH_SIZE,
    PREFIX_SIZE,
    PREFIX_STRUCT,
    build_binary_header,
)
from rocketwire_namesrv.routes.queue_layouts import EncodedRoute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.header_fields import HeaderFields
    from rocketwire_namesrv.protocol.views import Views
    from rocketwire_namesrv.routes.route_table import RouteTable

__all__ = [
    "FastPathResponses",
    "RouteFastPath",
    "RouteResponseTemplate",
    "wants_standard_json",
    "zone_of",
]

LEARNT_HEADERS: Final = 16_384
"""Headers that are kept, some 300 bytes each: topics times kinds of clients."""
LEARNT_SIZE: Final = 512
"""Longer headers are not kept."""
ZONE_NAME: Final = "__ZONE_NAME"
"""Text field outside every header class: the zone of a broker, or the zone that a client wants to
see."""
ZONE_MODE: Final = "__ZONE_MODE"
"""Text field outside every header class: whether a client wants to see one zone only."""

_STANDARD_JSON_SINCE: Final = int(MQVersion.V4_9_4)
_ROUTE: Final = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)
_OPAQUE_NAME: Final = b'"opaque":'
_OPAQUE_DIGITS: Final = 9  # more of them may be beyond an int32
_ZERO: Final = ord("0")

_HEAD = Struct(">II")
_PREFIXES: Final = {
    size: _HEAD.pack(size - LENGTH_SIZE, size - PREFIX_SIZE)
    for size in range(PREFIX_SIZE, PREFIX_SIZE + LEARNT_SIZE + 1)
}
"""What frames of each size begin with if they have a JSON header and no body."""
_OPAQUE = Struct(">i")
_MARK = 0x41424344
"""Stands for the opaque in the pattern of an answer; nothing else in a header looks like it."""
_BINARY_OPAQUE_AT: Final = build_binary_header(0, 0, 0, _MARK, 0, "", None).index(
    _OPAQUE.pack(_MARK)
)
_BINARY_OPAQUE_ENDS: Final = _BINARY_OPAQUE_AT + _OPAQUE.size


_Meaning = tuple[str, bool]
"""The topic that is asked for, and whether standard JSON is to say its route."""
_NOTHING: Final[dict[bytes, _Meaning]] = {}


def wants_standard_json(version: int, fields: Mapping[str, str]) -> bool:
    """Whether a client that asks for a route reads standard JSON only."""
    return (
        version >= _STANDARD_JSON_SINCE
        or fields.get("acceptStandardJsonOnly", "").lower() == "true"
    )


def zone_of(fields: Mapping[str, str]) -> str | None:
    """The one zone that a client wants to see, if any."""
    zone = fields.get(ZONE_NAME)
    if zone is not None and zone.strip() and fields.get(ZONE_MODE, "").lower() == "true":
        return zone
    return None


class RouteResponseTemplate:
    """Frames of the ordinary answer, a success with neither remark nor fields: only opaque and body
    differ.

    Args:
        serialize_type: form of the header.
    """

    def __init__(self, serialize_type: SerializeType) -> None:
        pattern = RemotingCommand(
            code=0,
            language=LanguageCode.JAVA,
            opaque=_MARK,
            flag=CommandFlag.RESPONSE,
            serialize_type=serialize_type,
        )
        self.is_json = serialize_type != SerializeType.ROCKETMQ
        mark = str(_MARK).encode() if self.is_json else _OPAQUE.pack(_MARK)
        self._type = serialize_type << 24
        self.before, _, self.after = encode(pattern)[_HEAD.size :].partition(mark)
        self.rest = len(self.before) + len(self.after)

    def frame(self, opaque: int, body: bytes) -> bytes:
        """One frame."""
        number = b"%d" % opaque if self.is_json else _OPAQUE.pack(opaque)
        header = self.rest + len(number)
        head = _HEAD.pack(4 + header + len(body), self._type | header)
        return b"".join((head, self.before, number, self.after, body))

    def head(self, route: EncodedRoute, opaque: int) -> tuple[int, bytes]:
        """Length of a frame with a JSON header in which the opaque takes so many bytes, and what
        stands before it; kept for the next one."""
        header = self.rest + opaque
        size = header + len(route.body)
        head = _HEAD.pack(LENGTH_SIZE + size, header) + self.before
        route.heads[opaque] = found = PREFIX_SIZE + size, head
        return found


class FastPathResponses(NamedTuple):
    """What has been done with the beginning of some bytes received.

    Attributes:
        parts: of the answers, to be joined.
        end: position of the first byte that nothing was done with.
        commands: how many there were.
    """

    parts: list[bytes]
    end: int
    commands: int


class RouteFastPath:
    """The short way from the bytes of route requests to those of their answers.

    Args:
        table: the routes.
        views: their encoded form.
        plain: the pattern of an answer.
    """

    def __init__(self, table: RouteTable, views: Views, plain: RouteResponseTemplate) -> None:
        self._topics = table.topics
        self._views = views
        self._plain = plain
        # by what is behind the opaque, which is the same for all topics (None: a binary header),
        # then by what stands before it
        self._learnt: dict[bytes | None, dict[bytes, _Meaning]] = {}
        self._count = 0  # of all that is learnt

    def answer(self, data: bytes, *, max_frame_length: int, most: int) -> FastPathResponses:
        """Answers the requests with which ``data`` begins, as far as they are ordinary.

        Args:
            data: as received, from the beginning of a frame.
            max_frame_length: longer frames are left alone.
            most: bytes of answers after which no more is done.
        """
        parts: list[bytes] = []
        at = commands = size = 0
        end = len(data)
        after = self._plain.after
        learnt, longest = self._learnt, max_frame_length - LENGTH_SIZE
        while end - at > PREFIX_SIZE and size < most:
            length, mark = _HEAD.unpack_from(data, at)
            stop = at + LENGTH_SIZE + length
            if stop > end or not LENGTH_SIZE <= length <= longest:
                break
            if mark + LENGTH_SIZE == length:  # a JSON header and no body
                before, _, rest = data[at + PREFIX_SIZE : stop].partition(_OPAQUE_NAME)
                opaque, _, behind = rest.partition(b",")
                known = learnt.get(behind, _NOTHING).get(before)
                known = known or self._learn(before, opaque, behind)
                if not opaque.isdigit() or len(opaque) > _OPAQUE_DIGITS:
                    break
                if opaque[0] == _ZERO and len(opaque) > 1:
                    break
            else:
                known, opaque = self._binary(data[at:stop])
            if known is None:
                break
            topic, standard = known
            route = self._route(topic, standard)
            if route is None:
                break
            width = len(opaque)
            length, head = route.heads.get(width) or self._plain.head(route, width)
            if length > MAX_FRAME_LENGTH:
                break
            parts += (head, opaque, after, route.body)
            size += length
            commands += 1
            at = stop
        return FastPathResponses(parts, at, commands)

    def answer_one(
        self, data: bytes, *, max_frame_length: int
    ) -> tuple[int, tuple[bytes, ...]] | None:
        """Answers one request that has been learnt; None where ``data`` is anything else.

        Args:
            data: as received.
            max_frame_length: longer frames are left alone.

        Returns:
            Bytes of the answer, and its parts.
        """
        size = len(data)
        if size > max_frame_length or data[:PREFIX_SIZE] != _PREFIXES.get(size):
            return None
        before, _, rest = data.partition(_OPAQUE_NAME)
        opaque, _, after = rest.partition(b",")
        known = self._learnt.get(after, _NOTHING).get(before[PREFIX_SIZE:])
        if known is None or not opaque.isdigit() or len(opaque) > _OPAQUE_DIGITS:
            return None
        topic, standard = known
        route = None if opaque[0] == _ZERO else self._route(topic, standard)
        if route is None:
            return None
        width = len(opaque)
        size, head = route.heads.get(width) or self._plain.head(route, width)
        if size > MAX_FRAME_LENGTH:
            return None
        return size, (head, opaque, self._plain.after, route.body)

    def _route(self, topic: str, standard: bool) -> EncodedRoute | None:
        """The route of a topic, most often one that is kept."""
        topics, views = self._topics, self._views
        layout = topics.entries.get(topic)
        if layout is None:
            return None
        if not topics.mappings and not views.support_acting_master:
            route = layout.standard if standard else layout.dialect
            if route is not None:
                return route
        body = views.route(topic, standard=standard)
        return None if body is None else EncodedRoute(body)

    def _learn(self, before: bytes, opaque: bytes, after: bytes) -> _Meaning | None:
        """What a header means, if it is an ordinary request for a route that there is."""
        if not opaque.isdigit() or not self._plain.is_json:
            return None
        other = b"1" if opaque != b"1" else b"2"
        header, changed = (
            b"".join((before, _OPAQUE_NAME, number, b",", after)) for number in (opaque, other)
        )
        if len(header) > LEARNT_SIZE:
            return None
        try:
            fields, again = decode_json_header(header), decode_json_header(changed)
        except DecodeError:
            return None
        same = fields._replace(opaque=0) == again._replace(opaque=0)
        if not same or (fields.opaque, again.opaque) != (int(opaque), int(other)):
            return None
        return self._keep(before, after, fields)

    def _binary(self, frame: bytes) -> tuple[_Meaning | None, bytes]:
        """What a binary header means, if it is an ordinary request for a route that there is, and
        the digits of its opaque."""
        _, header_type, high, size = PREFIX_STRUCT.unpack_from(frame)
        header = frame[PREFIX_SIZE : PREFIX_SIZE + size]
        whole = not high and len(header) == size >= _BINARY_OPAQUE_ENDS
        if header_type != SerializeType.ROCKETMQ or not whole:
            return None, b""
        key = header[:_BINARY_OPAQUE_AT] + header[_BINARY_OPAQUE_ENDS:]
        known = self._learnt.get(None, _NOTHING).get(key) or self._learn_binary(header, key)
        return known, b"%d" % _OPAQUE.unpack_from(header, _BINARY_OPAQUE_AT)[0]

    def _learn_binary(self, header: bytes, key: bytes) -> _Meaning | None:
        if len(header) > LEARNT_SIZE or not self._plain.is_json:
            return None
        try:
            fields, used = decode_binary_header(header)
        except DecodeError:
            return None
        # what the entries do not take is the beginning of the body, which nobody reads here
        return self._keep(key, None, fields) if used == len(header) else None

    def _keep(self, header: bytes, after: bytes | None, fields: HeaderFields) -> _Meaning | None:
        """Keeps what a header means, if it is an ordinary request for a route that there is."""
        meaning = _meaning(fields)
        if meaning is None or meaning[0] not in self._topics.entries:
            return None
        if self._count >= LEARNT_HEADERS:
            self._learnt.clear()
            self._count = 0
        self._learnt.setdefault(after, {})[header] = meaning
        self._count += 1
        return meaning


def _meaning(fields: HeaderFields) -> _Meaning | None:
    """Topic and dialect that a request for a route asks for; None for any other request."""
    ext_fields = fields.ext_fields or {}
    topic = ext_fields.get("topic")
    if fields.code != _ROUTE or fields.flag or topic is None or zone_of(ext_fields) is not None:
        return None
    return topic, wants_standard_json(fields.version, ext_fields)
