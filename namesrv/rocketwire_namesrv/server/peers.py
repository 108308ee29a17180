"""Compares the table with those of other name servers, if ``rocketwire.peers`` names them.

Each server computes a digest of its table twice a minute, and its second port gives it out. Two
servers whose brokers register at both have equal tables, apart from a change in progress.

Rules of this file: the client for HTTP is loaded if there are peers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import trio

from rocketwire.errors import ClientError
from rocketwire_namesrv.config.settings import addresses_of
from rocketwire_namesrv.routes.table_digest import (
    MAX_DOCUMENT,
    InvalidDigestError,
    TableDigest,
    digest_steps,
)
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire_namesrv.protocol.state import State
    from rocketwire_namesrv.routes.peer_views import PeerView

COMPARE_SECONDS: Final = 30.0
FETCH_SECONDS: Final = 5.0
PATH: Final = "/table-digest"


class Compared(Protocol):
    """The server, as this module uses it."""

    @property
    def state(self) -> State: ...


async def compare_for_ever(server: Compared) -> None:
    """Compare the tables until cancelled; return at once if no peers are configured."""
    state = server.state
    peers = addresses_of(state.config.peers)
    if not peers:
        return
    while True:
        mine = state.peers.digest = await _digest(state)
        for peer in peers:
            before = state.peers.views.get(peer)
            view = await _compare(state, peer, mine)
            _log(peer, before, view)
        await trio.sleep(COMPARE_SECONDS)


async def _digest(state: State) -> TableDigest:
    steps = digest_steps(state.table)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            digest: TableDigest = end.value
            return digest
        await trio.lowlevel.checkpoint()


async def _compare(state: State, peer: str, mine: TableDigest) -> PeerView:
    from rocketwire.client.net.address_server import fetch_text

    try:
        url = f"http://{peer}{PATH}"
        text = await fetch_text(url, within=FETCH_SECONDS, limit=MAX_DOCUMENT)
        return state.peers.record_comparison(peer, mine, TableDigest.read(text.encode()))
    except (ClientError, InvalidDigestError) as error:
        return state.peers.record_failure(peer, str(error))


def _log(peer: str, before: PeerView | None, view: PeerView) -> None:
    if before is not None and (before.fault, before.drift) == (view.fault, view.drift):
        return
    if view.fault:
        LOGGER.warning("name server %s cannot be compared: %s", peer, view.fault)
    elif view.drift.text:
        LOGGER.warning("name server %s has another table: %s", peer, view.drift.text)
    elif before is not None:
        LOGGER.info("name server %s has the same table again", peer)
