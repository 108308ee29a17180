"""Answers route requests (105) from their bytes: nearly all requests of a name server are of this
kind.

The headers of a client's requests for a topic differ in the opaque only. So a header is decoded
once, and the result is kept under the bytes around the opaque.

Rules of this file: any other request is left to the handlers, which return the same response, but
slower. A header is kept only if decoding it with another opaque gives the same result except for
the opaque: then this holds for every number. The number of kept headers is bounded. Only headers
are kept: the tables are read each time.

Java: ``ClientRequestProcessor``.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from rocketwire.wire.layouts.fused import (
    LENGTH_SIZE,
    PREFIX_SIZE,
    PREFIX_STRUCT,
    build_binary_header,
)
from rocketwire_namesrv.routes.queue_layouts import EncodedRoute

if TYPE_CHECKING:
    from rocketwire.wire.header_fields import HeaderFields
    from rocketwire_namesrv.protocol.views import Views
    from rocketwire_namesrv.routes.route_table import RouteTable

MAX_HEADERS: Final = 16_384
"""Maximum number of kept headers, some 300 bytes each: topics times kinds of clients."""
MAX_HEADER_SIZE: Final = 512
"""Longer headers are not kept."""
ZONE_NAME: Final = "__ZONE_NAME"
"""Field outside every header class: the zone of a broker, or the zone that a client requests."""
ZONE_MODE: Final = "__ZONE_MODE"
"""Field outside every header class: whether a client requests a single zone."""

_STANDARD_JSON_SINCE: Final = int(MQVersion.V4_9_4)
_ROUTE: Final = int(RequestCode.GET_ROUTEINFO_BY_TOPIC)
_OPAQUE_NAME: Final = b'"opaque":'
_OPAQUE_DIGITS: Final = 9  # more digits may exceed an int32
_ZERO: Final = ord("0")

_HEAD = Struct(">II")
_PREFIXES: Final = {
    size: _HEAD.pack(size - LENGTH_SIZE, size - PREFIX_SIZE)
    for size in range(PREFIX_SIZE, PREFIX_SIZE + MAX_HEADER_SIZE + 1)
}
"""Frame size -> first bytes of a frame of this size with a JSON header and no body."""
_OPAQUE = Struct(">i")
_MARK = 0x41424344
"""Placeholder of the opaque in the template of a response; it occurs only once in the header."""
_BINARY_OPAQUE_AT: Final = build_binary_header(0, 0, 0, _MARK, 0, "", None).index(
    _OPAQUE.pack(_MARK)
)
_BINARY_OPAQUE_ENDS: Final = _BINARY_OPAQUE_AT + _OPAQUE.size


_RouteRequest = tuple[str, bool]
"""The requested topic, and whether the route has to be in standard JSON."""
_NO_HEADERS: Final[dict[bytes, _RouteRequest]] = {}


def wants_standard_json(version: int, fields: Mapping[str, str]) -> bool:
    """Return whether a client that requests a route reads standard JSON only."""
    return (
        version >= _STANDARD_JSON_SINCE
        or fields.get("acceptStandardJsonOnly", "").lower() == "true"
    )


def zone_of(fields: Mapping[str, str]) -> str | None:
    """Return the zone that a client requests, if any."""
    zone = fields.get(ZONE_NAME)
    if zone is not None and zone.strip() and fields.get(ZONE_MODE, "").lower() == "true":
        return zone
    return None


class RouteResponseTemplate:
    """The frames of ordinary responses, successes without remark and fields: only opaque and body
    differ.
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
        self.prefix, _, self.suffix = encode(pattern)[_HEAD.size :].partition(mark)
        self.size = len(self.prefix) + len(self.suffix)

    def frame(self, opaque: int, body: bytes) -> bytes:
        number = b"%d" % opaque if self.is_json else _OPAQUE.pack(opaque)
        header = self.size + len(number)
        head = _HEAD.pack(4 + header + len(body), self._type | header)
        return b"".join((head, self.prefix, number, self.suffix, body))

    def head(self, route: EncodedRoute, opaque: int) -> tuple[int, bytes]:
        """Return the length of a frame with a JSON header, and the bytes before its opaque; they
        are kept for the next response."""
        header = self.size + opaque
        size = header + len(route.body)
        head = _HEAD.pack(LENGTH_SIZE + size, header) + self.prefix
        route.heads[opaque] = result = PREFIX_SIZE + size, head
        return result


class FastPathResponses(NamedTuple):
    """The responses to the first requests in the received bytes."""

    parts: list[bytes]  #: of the responses; the caller joins them
    end: int  #: position of the first byte that was not handled
    commands: int  #: number of requests


class RouteFastPath:
    """Answers ordinary route requests from their bytes."""

    def __init__(self, table: RouteTable, views: Views, template: RouteResponseTemplate) -> None:
        self._topics = table.topics
        self._views = views
        self._template = template
        # by the bytes after the opaque, which are the same for all topics (None: a binary header),
        # then by the bytes before it
        self._headers: dict[bytes | None, dict[bytes, _RouteRequest]] = {}
        self._count = 0  # of all kept headers

    def answer(self, data: bytes, *, max_frame_length: int, max_size: int) -> FastPathResponses:
        """Answer the first requests in ``data``, until one is not ordinary.

        Args:
            data: as received, from the start of a frame.
            max_frame_length: longer frames are not handled. max_size: bytes of responses after
                which no further request is handled.
        """
        parts: list[bytes] = []
        start = commands = size = 0
        end = len(data)
        suffix_bytes = self._template.suffix
        headers, longest = self._headers, max_frame_length - LENGTH_SIZE
        while end - start > PREFIX_SIZE and size < max_size:
            length, mark = _HEAD.unpack_from(data, start)
            stop = start + LENGTH_SIZE + length
            if stop > end or not LENGTH_SIZE <= length <= longest:
                break
            if mark + LENGTH_SIZE == length:  # a JSON header and no body
                prefix, _, tail = data[start + PREFIX_SIZE : stop].partition(_OPAQUE_NAME)
                opaque, _, suffix = tail.partition(b",")
                requested = headers.get(suffix, _NO_HEADERS).get(prefix)
                requested = requested or self._decode(prefix, opaque, suffix)
                if not opaque.isdigit() or len(opaque) > _OPAQUE_DIGITS:
                    break
                if opaque[0] == _ZERO and len(opaque) > 1:
                    break
            else:
                requested, opaque = self._binary(data[start:stop])
            if requested is None:
                break
            topic, standard = requested
            route = self._encode_route(topic, standard)
            if route is None:
                break
            width = len(opaque)
            length, head = route.heads.get(width) or self._template.head(route, width)
            if length > MAX_FRAME_LENGTH:
                break
            parts += (head, opaque, suffix_bytes, route.body)
            size += length
            commands += 1
            start = stop
        return FastPathResponses(parts, start, commands)

    def answer_one(
        self, data: bytes, *, max_frame_length: int
    ) -> tuple[int, tuple[bytes, ...]] | None:
        """Answer one request with a kept header: the size of the response, and its parts; None if
        ``data`` is anything else.
        """
        size = len(data)
        if size > max_frame_length or data[:PREFIX_SIZE] != _PREFIXES.get(size):
            return None
        prefix, _, tail = data.partition(_OPAQUE_NAME)
        opaque, _, suffix = tail.partition(b",")
        requested = self._headers.get(suffix, _NO_HEADERS).get(prefix[PREFIX_SIZE:])
        if requested is None or not opaque.isdigit() or len(opaque) > _OPAQUE_DIGITS:
            return None
        topic, standard = requested
        route = None if opaque[0] == _ZERO else self._encode_route(topic, standard)
        if route is None:
            return None
        width = len(opaque)
        size, head = route.heads.get(width) or self._template.head(route, width)
        if size > MAX_FRAME_LENGTH:
            return None
        return size, (head, opaque, self._template.suffix, route.body)

    def _encode_route(self, topic: str, standard: bool) -> EncodedRoute | None:
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

    def _decode(self, prefix: bytes, opaque: bytes, suffix: bytes) -> _RouteRequest | None:
        if not opaque.isdigit() or not self._template.is_json:
            return None
        second_opaque = b"1" if opaque != b"1" else b"2"
        header, changed = (
            b"".join((prefix, _OPAQUE_NAME, number, b",", suffix))
            for number in (opaque, second_opaque)
        )
        if len(header) > MAX_HEADER_SIZE:
            return None
        try:
            fields, second = decode_json_header(header), decode_json_header(changed)
        except DecodeError:
            return None
        is_equal = fields._replace(opaque=0) == second._replace(opaque=0)
        if not is_equal or (fields.opaque, second.opaque) != (int(opaque), int(second_opaque)):
            return None
        return self._keep(prefix, suffix, fields)

    def _binary(self, frame: bytes) -> tuple[_RouteRequest | None, bytes]:
        # Returns the header's content and the digits of its opaque; None if it is not an ordinary
        # request for an existing topic.
        _, header_type, high, size = PREFIX_STRUCT.unpack_from(frame)
        header = frame[PREFIX_SIZE : PREFIX_SIZE + size]
        is_complete = not high and len(header) == size >= _BINARY_OPAQUE_ENDS
        if header_type != SerializeType.ROCKETMQ or not is_complete:
            return None, b""
        key = header[:_BINARY_OPAQUE_AT] + header[_BINARY_OPAQUE_ENDS:]
        requested = self._headers.get(None, _NO_HEADERS).get(key) or self._decode_binary(
            header, key
        )
        return requested, b"%d" % _OPAQUE.unpack_from(header, _BINARY_OPAQUE_AT)[0]

    def _decode_binary(self, header: bytes, key: bytes) -> _RouteRequest | None:
        if len(header) > MAX_HEADER_SIZE or not self._template.is_json:
            return None
        try:
            fields, used = decode_binary_header(header)
        except DecodeError:
            return None
        # the rest of the header belongs to the body, which is not read here
        return self._keep(key, None, fields) if used == len(header) else None

    def _keep(
        self, header: bytes, suffix: bytes | None, fields: HeaderFields
    ) -> _RouteRequest | None:
        requested = _route_request(fields)
        if requested is None or requested[0] not in self._topics.entries:
            return None
        if self._count >= MAX_HEADERS:
            self._headers.clear()
            self._count = 0
        self._headers.setdefault(suffix, {})[header] = requested
        self._count += 1
        return requested


def _route_request(fields: HeaderFields) -> _RouteRequest | None:
    ext_fields = fields.ext_fields or {}
    topic = ext_fields.get("topic")
    if fields.code != _ROUTE or fields.flag or topic is None or zone_of(ext_fields) is not None:
        return None
    return topic, wants_standard_json(fields.version, ext_fields)
