"""Carries a dialogue over TCP to the capturing host, and determines which bytes of each frame are captured.

Source: RFC 9293 (sequence and acknowledgement numbers, SYN, FIN, RST, retransmission with other
borders), RFC 1122 4.2.3.6 (keep-alives, some with a byte of garbage), and generic receive offload:
full segments of one sender become one.
"""

import random
from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import Final, NamedTuple

from tests.peers.foreign.dialogue import EPOCH_NS, MS, SECOND, US, Dialogue, Frame
from tests.peers.foreign.profiles import Profile

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
_NUMBERS: Final = 1 << 32
_EARLY_NS: Final = 250 * MS
"""A response that was captured earlier than this before its request is not paired."""
LOOK_BACK_NS: Final = 150 * MS
"""A frame before the first captured byte of its stream has a row if its header comes at most
this much later."""


class Packet(NamedTuple):
    """A captured TCP segment; its time is in nanoseconds since 1970."""

    time_ns: int
    source: tuple[str, int]
    target: tuple[str, int]
    sequence: int
    acknowledged: int
    flags: int
    data: bytes
    timestamps: bool = True


class Truth(NamedTuple):
    """The row of a frame that the decoder should give; the names are those of its columns."""

    src: str
    src_port: int
    dst: str
    dst_port: int
    time_ns: int
    end_time_ns: int
    kind: str
    code: int
    request_code: int | None
    opaque: int
    flag: int
    language: str
    version: int
    remark: str | None
    topic: str | None
    group: str | None
    queue_id: int | None
    frame_length: int
    header_length: int
    body_length: int
    serialize_type: str
    latency_ns: int | None
    body_ok: bool
    gap: bool
    certain: bool  #: whether the frame must have a row; if not, it may have one
    #: whether ``request_code`` and ``latency_ns`` must have these values; if not, both may be None,
    #: because the request need not have a row
    pair_certain: bool


@dataclass(frozen=True, slots=True)
class Course:
    sides: tuple[bool, bool] = (True, True)  #: which sides are captured: client, server
    answered: str = "yes"  #: ``yes``; ``refused``: a RST answers the SYN; ``no``: no answer
    begun_ns: int = 0  #: earlier segments, also the handshake, were not captured
    ends: str = ""  #: ``fin``, ``rst`` or empty


class _Side:
    def __init__(self, source: tuple[str, int], target: tuple[str, int], first: int) -> None:
        self.source = source
        self.target = target
        self.first = first
        self.sent = 0
        self.frames: list[tuple[int, Frame]] = []
        self.pieces: list[tuple[int, int, int]] = []


class _Segment(NamedTuple):
    time_ns: int
    serial: int
    client: bool
    position: int
    flags: int
    data: bytes
    lost: bool


class Connection:
    def __init__(
        self, dialogue: Dialogue, profile: Profile, chance: random.Random, way: Course
    ) -> None:
        firsts = [
            _NUMBERS - chance.randrange(1, 200_000)
            if chance.random() < 0.1
            else chance.randrange(_NUMBERS)
            for _ in range(2)
        ]
        self._client = _Side(dialogue.client, dialogue.server, firsts[0])
        self._server = _Side(dialogue.server, dialogue.client, firsts[1])
        self._dialogue = dialogue
        self._profile = profile
        self._chance = chance
        self._way = way
        self._segments: list[_Segment] = []
        self._most = chance.choice((1448, 1448, 1460, 1428, 1380, 1220, 8948))
        self._merged = chance.random() < profile.merged
        self._timestamps = self._most not in (1460, 1380)
        self._corked = chance.choice((20 * US, 20 * US, 150 * US))
        self._garbage = chance.random() < 0.1

    def packets(self) -> list[Packet]:
        sent = self._dialogue.sent
        begin = sent[0].time_ns - 700 * US if sent else self._way.begun_ns
        if self._way.answered != "yes":
            self._call_in_vain(begin)
            return self._list_packets()
        self._shake_hands(begin)
        end = begin
        waiting: list[bytes] = [self._dialogue.opening] if self._dialogue.opening else []
        for number, message in enumerate(sent):
            side = self._client if message.client else self._server
            if isinstance(message, Frame):
                side.frames.append((side.sent + sum(map(len, waiting)), message))
            waiting.append(message.data)
            following = sent[number + 1] if number + 1 < len(sent) else None
            if (
                following is not None
                and following.client == message.client
                and following.time_ns - message.time_ns < self._corked
            ):
                continue
            if message.time_ns - end > 20 * SECOND:
                self._keep_alive(end + 10 * SECOND)
            data = waiting[0] if len(waiting) == 1 else b"".join(waiting)
            end = self._send(side, data, max(message.time_ns, end))
            waiting = []
        self._end(end + 400 * MS)
        return self._list_packets()

    # ---- segments

    def _add(
        self, side: _Side, time_ns: int, position: int, flags: int, data: bytes = b"", *,
        lost: bool = False,
    ) -> None:  # fmt: skip
        client, serial = side is self._client, len(self._segments)
        self._segments.append(_Segment(time_ns, serial, client, position, flags, data, lost))

    def _shake_hands(self, now: int) -> None:
        self._add(self._client, now, -1, SYN)
        self._add(self._server, now + 150 * US, -1, SYN | ACK)
        self._add(self._client, now + 300 * US, 0, ACK)

    def _call_in_vain(self, now: int) -> None:
        self._add(self._client, now, -1, SYN)
        if self._way.answered == "refused":
            self._server.first = 0
            self._add(self._server, now + 100 * US, 0, RST | ACK)
        else:
            self._add(self._client, now + SECOND, -1, SYN)
            self._add(self._client, now + 3 * SECOND, -1, SYN)

    def _keep_alive(self, now: int) -> None:
        side, receiver = self._client, self._server
        data = b"\0" if self._garbage and side.sent else b""
        self._add(side, now, side.sent - 1, ACK, data)
        self._add(receiver, now + 200 * US, receiver.sent, ACK)

    def _end(self, now: int) -> None:
        if self._way.ends == "rst":
            self._add(self._client, now, self._client.sent, RST | ACK)
        elif self._way.ends == "fin":
            self._add(self._client, now, self._client.sent, FIN | ACK)
            self._add(self._server, now + 200 * US, self._server.sent, FIN | ACK)
            self._add(self._client, now + 400 * US, self._client.sent + 1, ACK)

    def _send(self, side: _Side, data: bytes, now: int) -> int:
        profile, random_ = self._profile, self._chance.random
        base, offset, end = side.sent, 0, len(data)
        count = 0
        while offset < end:
            size = self._most
            if random_() < profile.odd_sized:
                size = 1 + int(random_() * size)
            elif self._merged and end - offset > size:
                size *= 1 + int(random_() * min(44 if size < 2000 else 6, (end - offset) // size))
            piece = data[offset : offset + size] if offset or end > size else data
            position = base + offset
            offset += len(piece)
            now += 1500 + int(random_() * 4000)
            count += 1
            self._carry(side, position, piece, now, data, base, PSH if offset == end else 0)
        side.sent = base + end
        receiver = self._server if side is self._client else self._client
        if count > 1 or random_() < 0.55:
            for _ in range(max(1, count // 2)):
                now += 4 * US
                self._add(receiver, now + 60 * US, receiver.sent, ACK)
        return now

    def _carry(
        self, side: _Side, position: int, piece: bytes, now: int, data: bytes, base: int, push: int
    ) -> None:
        profile, chance = self._profile, self._chance
        fate = chance.random()
        if fate > profile.reordered + profile.repeated + profile.lost:
            self._add(side, now, position, ACK | push, piece)
            return
        if fate < profile.reordered:
            delay_kind = chance.random()
            low, high = ((20 * US, 400 * US), (MS, 40 * MS), (200 * MS, 260 * MS))[
                0 if delay_kind < 0.6 else 1 if delay_kind < 0.9 else 2
            ]
            self._add(side, now + chance.randrange(low, high), position, ACK | push, piece)
            return
        lost = fate > profile.reordered + profile.repeated
        self._add(side, now, position, ACK | push, piece, lost=lost)
        if lost:
            return
        delay_kind = chance.random()
        repeated_ns = now + (
            chance.randrange(MS, 40 * MS)
            if delay_kind < 0.5
            else chance.randrange(200 * MS, 300 * MS)
        )
        if delay_kind < 0.3 or delay_kind > 0.85:
            self._add(side, repeated_ns, position, ACK | push, piece)
            return
        low = position - base + chance.randrange(len(piece))
        high = min(len(data), low + chance.randrange(1, self._most + 1))
        self._add(side, repeated_ns, base + low, ACK, data[low:high])

    # ---- what the capture holds

    def _list_packets(self) -> list[Packet]:
        end = int(self._profile.seconds * SECOND)
        received = {True: 0, False: 0}
        ahead: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
        packets: list[Packet] = []
        for time_ns, _, client, position, flags, data, lost in sorted(self._segments):
            side, receiver = (
                (self._client, self._server) if client else (self._server, self._client)
            )
            if data or flags & FIN:
                stop = position + len(data) + (flags & FIN)
                if position <= received[client] < stop:
                    received[client] = stop
                    waiting = ahead[client]
                    while waiting and waiting[0][0] <= received[client]:
                        received[client] = max(received[client], waiting.pop(0)[1])
                elif position > received[client]:
                    insort(ahead[client], (position, stop))
            if lost or not self._way.sides[not client] or not self._way.begun_ns <= time_ns < end:
                continue
            acknowledged = (receiver.first + received[not client]) % _NUMBERS if flags & ACK else 0
            packets.append(
                Packet(
                    EPOCH_NS + time_ns, side.source, side.target,
                    (side.first + position) % _NUMBERS,
                    acknowledged, flags, data, self._timestamps,
                )
            )  # fmt: skip
            if data:  # a garbage byte of a keep-alive looks like a lost byte that is sent again
                kept = min(len(data), self._profile.payload or len(data))
                side.pieces.append((EPOCH_NS + time_ns, position, position + kept))
        return packets

    def truth(self, unit: int = 1) -> list[Truth]:
        captures: dict[int, _Capture] = {}
        frames: list[tuple[Frame, _Side, _Capture]] = []
        for side in (self._client, self._server):
            spans = _Spans(side.pieces)
            for position, frame in side.frames:
                capture = spans.capture(position, frame)
                if capture is not None:
                    captures[id(frame)] = capture
                    frames.append((frame, side, capture))
        rows: list[Truth] = []
        for frame, side, capture in frames:
            request = None if frame.request is None else captures.get(id(frame.request))
            rows.append(_truth(frame, side, capture, request, unit))
        return rows


class _Capture(NamedTuple):
    time_ns: int
    end_time_ns: int
    body: bool
    gap: bool
    certain: bool


class _Spans:
    def __init__(self, pieces: list[tuple[int, int, int]]) -> None:
        spans: list[tuple[int, int, int]] = []
        high = pieces[0][1] if pieces else 0
        holes: list[tuple[int, int]] = []
        if high > 0:
            holes.append((-1, high))
        for time_ns, start, stop in pieces:
            if start > high:
                holes.append((high, start))
            if start < high and holes:
                remaining: list[tuple[int, int]] = []
                for low, top in holes:
                    first, last = max(low, start), min(top, stop)
                    if first >= last:
                        remaining.append((low, top))
                        continue
                    insort(spans, (first, last, time_ns))
                    if low < first:
                        remaining.append((low, first))
                    if last < top:
                        remaining.append((last, top))
                holes = remaining
            if stop > high:
                spans.append((max(start, high), stop, time_ns))
                high = stop
        self._spans = spans
        self._starts = [span[0] for span in spans]
        self._first = pieces[0] if pieces else None

    def capture(self, position: int, frame: Frame) -> _Capture | None:
        """The captured part of a frame; None if its header was not captured."""
        spans, starts = self._spans, self._starts
        number = bisect_right(starts, position) - 1
        if number < 0 or spans[number][1] <= position:
            return None
        end = position + len(frame.data)
        header_end = position + 8 + frame.header_length
        first = last = spans[number][2]
        header_last = first
        reached = spans[number][1]
        while reached < end:
            number += 1
            if number == len(spans) or starts[number] > reached:
                break
            if reached < header_end:
                header_last = max(header_last, spans[number][2])
            reached = spans[number][1]
            last = max(last, spans[number][2])
        if reached < header_end:
            return None
        body = reached >= end
        gap = not body and number < len(spans)
        while not body and number < len(spans) and starts[number] < end:  # after a hole
            last = max(last, spans[number][2])
            number += 1
        assert self._first is not None
        early = position < self._first[1]
        certain = not early or header_last - self._first[0] < LOOK_BACK_NS
        return _Capture(first, last, body, gap, certain)


def _truth(
    frame: Frame, side: _Side, capture: _Capture, request: _Capture | None, unit: int
) -> Truth:
    header = frame.header
    time_ns = capture.time_ns - capture.time_ns % unit
    request_code = latency = None
    if frame.request is not None and request is not None:
        passed = time_ns - (request.time_ns - request.time_ns % unit)
        if passed > -_EARLY_NS:
            request_code = frame.request.header.code
        if passed >= 0:
            latency = passed
    frame_kind = "response" if header.flag & 1 else "oneway" if header.flag & 2 else "request"
    length = len(frame.data)
    queue = header.first("queueId", "e")
    return Truth(
        *side.source, *side.target, time_ns, capture.end_time_ns - capture.end_time_ns % unit,
        frame_kind, header.code, request_code, header.opaque, header.flag, frame.library.language,
        frame.library.version, frame.library.remark(header),
        header.first("topic", "b"), header.first("consumerGroup", "producerGroup", "a"),
        None if queue is None else int(queue), length, frame.header_length,
        length - 8 - frame.header_length, frame.library.serialize_type,
        latency, capture.body, capture.gap, capture.certain, request is None or request.certain,
    )  # fmt: skip
