"""Faults that a test asks for: the next requests are refused, answered late, or not answered.

A script answers all requests with its code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rocketwire.codes import RequestCode

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.response import Response

SENDS: Final = frozenset(
    (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE)
)


@dataclass(slots=True)
class Fault:
    codes: frozenset[int]
    times: int  # number of requests, from the next one on
    refusal: Response | None = None  # sent in the place of handling the request
    delay_ms: int = 0  # time after which the answer is sent; the request takes effect at once
    is_lost: bool = False  # the request takes effect, and no answer is sent
    is_cut: bool = False  # the request does not take effect, and its connection is closed
    # makes the answer in the place of handling the request; None for no answer
    script: Callable[[RemotingCommand], Response | None] | None = None


class Faults:
    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def __len__(self) -> int:
        return len(self._faults)

    def add(self, fault: Fault) -> None:
        """Add a fault; a script replaces the previous one for its codes."""
        if fault.script is not None:
            self._faults = [
                one for one in self._faults if one.script is None or one.codes != fault.codes
            ]
        if fault.times > 0:
            self._faults.append(fault)

    def clear(self) -> None:
        self._faults.clear()

    def take(self, code: int) -> Fault | None:
        """Return the fault of a request, which counts as one of its times; None without one."""
        for index, fault in enumerate(self._faults):
            if code in fault.codes:
                fault.times -= 1
                if not fault.times:
                    del self._faults[index]
                return fault
        return None


def codes_of(requests: Iterable[int] | None) -> frozenset[int]:
    return SENDS if requests is None else frozenset(map(int, requests))
