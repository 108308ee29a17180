"""Which request a response answers, and how long it took.

Rules of this file: a request is known by the stream that it went by and its opaque; a response answers the latest that began
before it and has no answer yet.  What is remembered is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

MOST_PENDING: Final = 1_000_000
"""Requests that wait for an answer; the oldest are forgotten."""
_RESPONSE: Final = 1
_ONEWAY: Final = 2
_REORDERED_NS: Final = 1_000_000_000
_OPAQUES: Final = 0xFFFFFFFF


class Paired(NamedTuple):
    """What is known of the requests of responses, an entry for each frame.

    Attributes:
        found: whether it is a response to a known request.
        code: of the request.
        latency_ns: nanoseconds from the first byte of the request to that of the response.
        topic: of the request, where topics were given.
    """

    found: Array
    code: Array
    latency_ns: Array
    topic: Array


class _Frames(NamedTuple):
    """What of the frames of a chunk is remembered or compared."""

    code: Array
    time_ns: Array
    topic: Array


class Pairing:
    """Requests without a response so far.

    Attributes:
        unanswered: requests that were forgotten, or followed by another with the same number.
    """

    def __init__(self, most_pending: int = MOST_PENDING) -> None:
        self.unanswered = 0
        self._most = most_pending
        self._pending: dict[int, tuple[int, int, str | None]] = {}

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
        _note(paired, of[at], of[at - 1], frames)
        self._earlier(paired, of, key, response & ~same, frames)
        answered = _too_early(paired, of, same, response, answers, frames)
        answered[:-1] |= answers[1:]
        self._remember(of, key, ~response & ~answered, frames)
        return paired

    def _earlier(
        self, paired: Paired, of: Array, key: Array, orphans: Array, frames: _Frames
    ) -> None:
        """Answers to requests of earlier chunks."""
        pop = self._pending.pop
        at = np.flatnonzero(orphans)
        for frame, each in zip(of[at].tolist(), key[at].tolist(), strict=True):
            request = pop(each, None)
            if request is not None:
                paired.found[frame] = True
                paired.code[frame], began, topic = request
                paired.latency_ns[frame] = frames.time_ns[frame] - began
                if topic is not None:
                    paired.topic[frame] = topic

    def _remember(self, of: Array, key: Array, waiting: Array, frames: _Frames) -> None:
        """Requests whose answer has not come."""
        at = np.flatnonzero(waiting)
        at = at[np.argsort(frames.time_ns[of[at]], kind="stable")]
        pending = self._pending
        for each, *request in zip(
            key[at].tolist(), *(part[of[at]].tolist() for part in frames), strict=True
        ):
            if pending.pop(each, None) is not None:
                self.unanswered += 1
            pending[each] = (request[0], request[1], request[2])
        surplus = len(pending) - self._most
        if surplus > 0:
            for each in list(pending)[:surplus]:
                del pending[each]
            self.unanswered += surplus

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
    early[:-2] &= ~answers[2:]
    at = np.flatnonzero(early)
    at = at[frames.time_ns[of[at + 1]] - frames.time_ns[of[at]] < _REORDERED_NS]
    _note(paired, of[at], of[at + 1], frames)
    answered = np.zeros(len(of), np.bool_)
    answered[at + 1] = True
    return answered


def _note(paired: Paired, responses: Array, requests: Array, frames: _Frames) -> None:
    paired.found[responses] = True
    paired.code[responses] = frames.code[requests]
    paired.latency_ns[responses] = frames.time_ns[responses] - frames.time_ns[requests]
    if paired.topic is not frames.topic:
        paired.topic[responses] = frames.topic[requests]
