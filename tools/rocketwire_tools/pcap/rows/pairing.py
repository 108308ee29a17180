"""Pairs each response with its request, and computes the latency.

Frames with the same connection, requester and opaque are ordered by their first bytes. A response
answers the frame directly before it, if that is a request. Otherwise it answers the frame directly
after it, if that is a request that was captured within ``EARLY_NS`` and has no other response
within that time. Chunks do not matter: a response waits for a request that may still come.
``rocketwire_tools.spark.correlation`` applies the same rule in Spark. Memory is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rocketwire_tools.pcap.files.records import Array


class Requests(NamedTuple):
    key: Array  # identifies the request in a response
    code: Array  # of the request
    time_ns: Array  # of its first byte
    topic: Array  # of the request; None if it is not requested

    def take(self, order: Array) -> Requests:
        return Requests(*(part[order] for part in self))


_NONE: Final = Requests(
    *(np.zeros(0, number_type) for number_type in (np.int64, np.int64, np.int64, np.object_))
)


class Pending:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._requests = _NONE
        self._age: Array = np.zeros(0, np.int64)
        self._latest = 0

    def __len__(self) -> int:
        return len(self._age)

    def pop(self, keys: Array) -> tuple[Array, Requests]:
        """Remove and return requests, with the indices of the keys that exist."""
        if not len(self) or not len(keys):
            return np.zeros(0, np.int64), _NONE
        candidates = np.minimum(np.searchsorted(self._requests.key, keys), len(self) - 1)
        matches = np.flatnonzero(self._requests.key[candidates] == keys)
        indexes = candidates[matches]
        requests = self._requests.take(indexes)
        if len(indexes):
            kept = np.ones(len(self), np.bool_)
            kept[indexes] = False
            self._keep(kept)
        return matches, requests

    def add(self, requests: Requests) -> int:
        """Add requests; returns the number of requests that were forgotten."""
        if not len(requests.key):
            return 0
        age = np.arange(self._latest, self._latest + len(requests.key))
        self._latest += len(age)
        both = Requests(*map(np.append, self._requests, requests))
        order = np.argsort(both.key, kind="stable")
        self._requests, self._age = both.take(order), np.append(self._age, age)[order]
        surplus = len(self) - self._limit
        if surplus <= 0:
            return 0
        oldest = np.partition(self._age, surplus)[surplus]
        self._keep(self._age >= oldest)
        return surplus

    def _keep(self, kept: Array) -> None:
        self._requests, self._age = self._requests.take(kept), self._age[kept]


MAX_PENDING: Final = 1 << 18  # Requests that wait for a response; the oldest are forgotten
_RESPONSE: Final = 1
_ONEWAY: Final = 2
EARLY_NS: Final = 250_000_000
"""Nanoseconds that a response may be captured before its request, because network or capture
reordered them."""
MAX_HELD: Final = 65_536  # Rows that wait for requests
_OPAQUES: Final = 0xFFFFFFFF


@dataclass(slots=True)
class Paired:
    """The requests of responses, an entry for each frame. Entries may change until ``until``."""

    is_paired: Array  # whether the frame is a response with a known request
    code: Array  # of the request
    latency_ns: Array  # nanoseconds from the first byte of the request to that of the response
    topic: Array  # of the request, if topics were given
    until: int = 0  # capture time from which on nothing changes


class _Orphans(NamedTuple):
    """Responses of one chunk whose requests may still come, sorted by key."""

    paired: Paired
    frame: Array
    key: Array
    time_ns: Array


class _Frames(NamedTuple):
    code: Array
    time_ns: Array
    topic: Array


class Pairing:
    """The requests without a response so far."""

    def __init__(self, most_pending: int = MAX_PENDING) -> None:
        self.unanswered = 0  # requests that were forgotten, or whose opaque was reused
        self._pending = Pending(most_pending)
        self._orphans: list[_Orphans] = []
        self.now = 0  # latest capture time of a frame's first byte

    def pair(
        self,
        number: Array,  # of each frame's stream
        opaque: Array,  # of each frame
        flag: Array,  # of each frame
        code: Array,  # of each frame
        time_ns: Array,  # of each frame's first byte
        topic: Array | None = None,  # of each frame; None if request topics are not requested
    ) -> Paired:
        """Pair the frames of a chunk with each other and with earlier requests."""
        count = len(number)
        none: Array = np.full(1, None)
        frames = _Frames(code, time_ns, np.broadcast_to(none, count) if topic is None else topic)
        paired = Paired(
            np.zeros(count, np.bool_),
            np.zeros(count, np.int64),
            np.zeros(count, np.int64),
            frames.topic if topic is None else np.full(count, None),
        )
        response = (flag & _RESPONSE) != 0
        taking_part = np.flatnonzero(response | ((flag & _ONEWAY) == 0))
        if not len(taking_part):
            return paired
        self.now = max(self.now, int(time_ns.max()))
        response = response[taking_part]
        key = (number[taking_part] ^ response) << 32 | (opaque[taking_part] & _OPAQUES)
        order = np.lexsort((time_ns[taking_part], key))
        frame, key, response = taking_part[order], key[order], response[order]
        same_key = np.empty(len(frame), np.bool_)
        same_key[0] = False
        np.equal(key[1:], key[:-1], out=same_key[1:])
        answers = response & same_key
        answers[1:] &= ~response[:-1]
        entries = np.flatnonzero(answers)
        _set_pairs(paired, frame[entries], frames, frame[entries - 1])
        self._pair_earlier_requests(paired, frame, key, response & ~same_key, frames)
        answered = _pair_early_responses(paired, frame, same_key, response, answers, frames)
        answered[:-1] |= answers[1:]
        self._pair_late_requests(frame, key, response, answered, frames)
        self._keep_requests(frame, key, same_key, response, answered, frames)
        self._keep_orphans(paired, frame, key, response, frames)
        return paired

    def _pair_earlier_requests(
        self, paired: Paired, frames_in_order: Array, key: Array, orphans: Array, frames: _Frames
    ) -> None:
        entries = np.flatnonzero(orphans)
        answered, requests = self._pending.pop(key[entries])
        if not len(answered):
            return
        frame = frames_in_order[entries[answered]]
        paired.is_paired[frame] = True
        paired.code[frame] = requests.code
        paired.latency_ns[frame] = frames.time_ns[frame] - requests.time_ns
        if paired.topic.flags.writeable:
            paired.topic[frame] = requests.topic

    def _pair_late_requests(
        self, frame: Array, key: Array, response: Array, answered: Array, frames: _Frames
    ) -> None:
        for orphans in self._orphans:
            entry = np.minimum(np.searchsorted(key, orphans.key), len(key) - 1)
            next_entry = np.minimum(entry + 1, len(key) - 1)
            request_ns, times = frames.time_ns[frame[entry]], orphans.time_ns
            hit = (key[entry] == orphans.key) & ~response[entry] & (request_ns - times < EARLY_NS)
            follows = (next_entry > entry) & (key[next_entry] == orphans.key) & response[next_entry]
            hit &= ~(follows & (frames.time_ns[frame[next_entry]] - times < EARLY_NS))
            hit &= ~orphans.paired.is_paired[orphans.frame]
            matches = np.flatnonzero(hit)
            _set_pairs(
                orphans.paired,
                orphans.frame[matches],
                frames,
                frame[entry[matches]],
                times[matches],
            )
            answered[entry[matches]] = True
        self._orphans = [orphan for orphan in self._orphans if orphan.paired.until > self.now]

    def _keep_orphans(
        self, paired: Paired, frame: Array, key: Array, response: Array, frames: _Frames
    ) -> None:
        # Keep recent responses without request that are the last frames with their keys
        orphans = response & ~paired.is_paired[frame]
        orphans[:-1] &= key[1:] != key[:-1]
        orphans &= frames.time_ns[frame] > self.now - EARLY_NS
        entries = np.flatnonzero(orphans)
        if not len(entries):
            return
        times = frames.time_ns[frame[entries]]
        paired.until = int(times.max()) + EARLY_NS
        surplus = (
            sum(len(orphan.paired.is_paired) for orphan in self._orphans) + len(frame) - MAX_HELD
        )
        while surplus > 0 and self._orphans:  # release their rows
            surplus -= len(self._orphans.pop(0).paired.is_paired)
        self._orphans.append(_Orphans(paired, frame[entries], key[entries], times))

    def _keep_requests(
        self,
        frame: Array,
        key: Array,
        same_key: Array,
        response: Array,
        answered: Array,
        frames: _Frames,
    ) -> None:
        # Keep unanswered requests that are the last frames with their keys
        waiting = ~response & ~answered
        repeated, _ = self._pending.pop(key[~same_key & ~response])
        self.unanswered += len(repeated)
        followed = np.append(same_key[1:], False)
        self.unanswered += int(np.count_nonzero(waiting & followed))
        entries = np.flatnonzero(waiting & ~followed)
        entries = entries[np.argsort(frames.time_ns[frame[entries]], kind="stable")]
        requests = Requests(key[entries], *(part[frame[entries]] for part in frames))
        self.unanswered += self._pending.add(requests)

    @property
    def waiting(self) -> int:
        return len(self._pending)


def _pair_early_responses(
    paired: Paired, frame: Array, same_key: Array, response: Array, answers: Array, frames: _Frames
) -> Array:
    """Pair responses that were captured shortly before their requests; returns which entries are
    such requests."""
    early = np.zeros(len(frame), np.bool_)
    early[:-1] = response[:-1] & ~paired.is_paired[frame[:-1]] & same_key[1:] & ~response[1:]
    times = frames.time_ns[frame]
    early[:-2] &= ~(answers[2:] & (times[2:] - times[:-2] < EARLY_NS))
    early[:-1] &= times[1:] - times[:-1] < EARLY_NS
    entries = np.flatnonzero(early)
    _set_pairs(paired, frame[entries], frames, frame[entries + 1])
    answered = np.zeros(len(frame), np.bool_)
    answered[entries + 1] = True
    return answered


def _set_pairs(
    paired: Paired, responses: Array, frames: _Frames, requests: Array, times: Array | None = None
) -> None:
    # Set the requests of responses; ``times`` are those of responses of an earlier chunk
    paired.is_paired[responses] = True
    paired.code[responses] = frames.code[requests]
    request_ns = frames.time_ns[requests]
    paired.latency_ns[responses] = (
        frames.time_ns[responses] if times is None else times
    ) - request_ns
    if paired.topic.flags.writeable:
        paired.topic[responses] = frames.topic[requests]
