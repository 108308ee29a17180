"""Request codes: the handler of each, and the permissions that a request needs.

A module of handlers declares its functions with ``handles``; ``protocol.handler_table`` imports all
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from rocketwire_broker.access.needs import need_of_administrator

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.access.needs import Need, Needs
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.state.response import Response
    from rocketwire_broker.tables.peer import Peer

Handler: TypeAlias = "Callable[[Broker, RemotingCommand, Peer, int], Response | None]"
"""Answers a request; None if it answers later."""

H = TypeVar("H", bound=Handler)


class RequestType(NamedTuple):
    handle: Handler
    needs: Needs | None  # None: only administrators may send it


REQUESTS: Final[dict[int, RequestType]] = {}  # the requests that the broker answers, by code


def handles(*codes: int, needs: Needs | None = None) -> Callable[[H], H]:
    """Declare the handler of request codes, and what such a request needs."""

    def declare(handler: H) -> H:
        for code in codes:
            if code in REQUESTS:
                raise ValueError(f"request code {code} has two handlers")
            REQUESTS[int(code)] = RequestType(handler, needs)
        return handler

    return declare


def needs_of(request: RemotingCommand, cluster: str) -> Iterator[Need]:
    """Yield what a request needs; nothing if every account may send it."""
    known = REQUESTS.get(request.code)
    if known is None or known.needs is None:
        yield need_of_administrator(request, cluster)
    else:
        yield from known.needs(request)
