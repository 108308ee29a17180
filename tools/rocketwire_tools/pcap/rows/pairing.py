"""Which request a response answers, and how long it took.

Rules of this file: a request is known by the stream that it went by and its opaque.  Among the frames that have both in common,
in the order of their first bytes, a response answers the one directly in front of it, if that is a request; if not, the one
directly behind it, if that is a request that was captured within ``EARLY_NS`` and that no response follows within them.  It does
not matter where a capture is cut into chunks: responses of which the request may yet come wait for it.
``rocketwire_tools.spark.correlation`` says the same to Spark.  What is remembered is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from rocketwire_tools.pcap.rows.pending import Pending, Requests

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

MOST_PENDING: Final = 1 << 18
"""Requests that wait for an answer; the oldest are forgotten."""
_RESPONSE: Final = 1
_ONEWAY: Final = 2
EARLY_NS: Final = 250_000_000
"""Nanoseconds that a response may be captured before its request, which the network or the capture put into another order."""
MOST_HELD: Final = 65_536
"""Rows that wait for requests of responses among them."""
_OPAQUES: Final = 0xFFFFFFFF


@dataclass(slots=True)
class Paired:
    """What is known of the requests of responses, an entry for each frame; filled in later where ``until`` says so.

    Attributes:
        found: whether it is a response to a known request.
        code: of the request.
        latency_ns: nanoseconds from the first byte of the request to that of the response.
        topic: of the request, where topics were given.
        until: capture time from which on nothing changes any more.
    """

    found: Array
    code: Array
    latency_ns: Array
    topic: Array
    until: int = 0


class _Orphans(NamedTuple):
    """Responses of one chunk whose requests may yet come, sorted by key."""

    paired: Paired
    frame: Array
    key: Array
    time_ns: Array


class _Frames(NamedTuple):
    """What of the frames of a chunk is remembered or compared."""

    code: Array
    time_ns: Array
    topic: Array


class Pairing:
    """Requests without a response so far.

    Attributes:
        unanswered: requests that were forgotten, or followed by another with the same number.
        now: latest capture time of a frame's first byte.
    """

    def __init__(self, most_pending: int = MOST_PENDING) -> None:
        self.unanswered = 0
        self._pending = Pending(most_pending)
        self._orphans: list[_Orphans] = []
        self.now = 0

    def pair(
        self,
        number: Array,
        opaque: Array,
        flag: Array,
        code: Array,
        time_ns: Array,
        topic: Array | None = None,
    ) -> Paired:
        """Pair the frames of a chunk with each other and with requests of earlier ones.

        Args:
            number: of each frame's stream.
            opaque: of each frame.
            flag: likewise.
            code: likewise.
            time_ns: of each frame's first byte.
            topic: of each frame, if that of the request is wanted.
        """
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
        of, key, response = taking_part[order], key[order], response[order]
        same = np.empty(len(of), np.bool_)
        same[0] = False
        np.equal(key[1:], key[:-1], out=same[1:])
        answers = response & same
        answers[1:] &= ~response[:-1]
        at = np.flatnonzero(answers)
        _note(paired, of[at], frames, of[at - 1])
        self._earlier(paired, of, key, response & ~same, frames)
        answered = _too_early(paired, of, same, response, answers, frames)
        answered[:-1] |= answers[1:]
        self._late(of, key, response, answered, frames)
        self._remember(of, key, same, response, answered, frames)
        self._leave(paired, of, key, response, frames)
        return paired

    def _earlier(
        self, paired: Paired, of: Array, key: Array, orphans: Array, frames: _Frames
    ) -> None:
        """Answers to requests of earlier chunks."""
        at = np.flatnonzero(orphans)
        answered, requests = self._pending.pop(key[at])
        if not len(answered):
            return
        frame = of[at[answered]]
        paired.found[frame] = True
        paired.code[frame] = requests.code
        paired.latency_ns[frame] = frames.time_ns[frame] - requests.time_ns
        if paired.topic.flags.writeable:
            paired.topic[frame] = requests.topic

    def _late(
        self, of: Array, key: Array, response: Array, answered: Array, frames: _Frames
    ) -> None:
        """Requests that were captured behind their answers, in earlier chunks."""
        for orphans in self._orphans:
            at = np.minimum(np.searchsorted(key, orphans.key), len(key) - 1)
            behind = np.minimum(at + 1, len(key) - 1)
            began, times = frames.time_ns[of[at]], orphans.time_ns
            hit = (key[at] == orphans.key) & ~response[at] & (began - times < EARLY_NS)
            follows = (behind > at) & (key[behind] == orphans.key) & response[behind]
            hit &= ~(follows & (frames.time_ns[of[behind]] - times < EARLY_NS))
            hit &= ~orphans.paired.found[orphans.frame]
            some = np.flatnonzero(hit)
            _note(orphans.paired, orphans.frame[some], frames, of[at[some]], times[some])
            answered[at[some]] = True
        self._orphans = [one for one in self._orphans if one.paired.until > self.now]

    def _leave(
        self, paired: Paired, of: Array, key: Array, response: Array, frames: _Frames
    ) -> None:
        """Responses whose requests may yet come: the last frames with their keys, captured lately."""
        orphans = response & ~paired.found[of]
        orphans[:-1] &= key[1:] != key[:-1]
        orphans &= frames.time_ns[of] > self.now - EARLY_NS
        at = np.flatnonzero(orphans)
        if not len(at):
            return
        times = frames.time_ns[of[at]]
        paired.until = int(times.max()) + EARLY_NS
        surplus = sum(len(one.paired.found) for one in self._orphans) + len(of) - MOST_HELD
        while surplus > 0 and self._orphans:  # their rows wait no longer
            surplus -= len(self._orphans.pop(0).paired.found)
        self._orphans.append(_Orphans(paired, of[at], key[at], times))

    def _remember(
        self, of: Array, key: Array, same: Array, response: Array, answered: Array, frames: _Frames
    ) -> None:
        """Requests whose answer has not come, if nothing follows them."""
        waiting = ~response & ~answered
        again, _ = self._pending.pop(key[~same & ~response])
        self.unanswered += len(again)
        followed = np.append(same[1:], False)
        self.unanswered += int(np.count_nonzero(waiting & followed))
        at = np.flatnonzero(waiting & ~followed)
        at = at[np.argsort(frames.time_ns[of[at]], kind="stable")]
        requests = Requests(key[at], *(part[of[at]] for part in frames))
        self.unanswered += self._pending.add(requests)

    @property
    def waiting(self) -> int:
        """How many requests wait for an answer."""
        return len(self._pending)


def _too_early(
    paired: Paired, of: Array, same: Array, response: Array, answers: Array, frames: _Frames
) -> Array:
    """Responses that were captured shortly before their request, which the network reordered.

    Returns:
        Which entries are such requests.
    """
    early = np.zeros(len(of), np.bool_)
    early[:-1] = response[:-1] & ~paired.found[of[:-1]] & same[1:] & ~response[1:]
    times = frames.time_ns[of]
    early[:-2] &= ~(answers[2:] & (times[2:] - times[:-2] < EARLY_NS))
    early[:-1] &= times[1:] - times[:-1] < EARLY_NS
    at = np.flatnonzero(early)
    _note(paired, of[at], frames, of[at + 1])
    answered = np.zeros(len(of), np.bool_)
    answered[at + 1] = True
    return answered


def _note(
    paired: Paired, responses: Array, frames: _Frames, requests: Array, times: Array | None = None
) -> None:
    """Take down the requests of responses; times: of the responses, if they are of an earlier chunk."""
    paired.found[responses] = True
    paired.code[responses] = frames.code[requests]
    began = frames.time_ns[requests]
    paired.latency_ns[responses] = (frames.time_ns[responses] if times is None else times) - began
    if paired.topic.flags.writeable:
        paired.topic[responses] = frames.topic[requests]
