"""``PeerViews``: how the tables of other name servers compare with that of this one.

Rules of this file: pure. A difference counts if two comparisons in a row have it: a registration
reaches one name server after the other.
"""

from __future__ import annotations

from typing import NamedTuple

from rocketwire_namesrv.routes.table_digest import Drift, TableDigest


class PeerView(NamedTuple):
    reached: bool = False  #: whether it answered
    fault: str = ""  #: why it could not be compared; empty if it could
    drift: Drift = Drift()  #: lasting differences


class PeerViews:
    def __init__(self) -> None:
        self.digest: TableDigest | None = None  #: of this server's table; None before the first one
        self.views: dict[str, PeerView] = {}  #: peer -> latest comparison
        self._latest: dict[str, Drift] = {}

    def record_comparison(self, peer: str, mine: TableDigest, other: TableDigest) -> PeerView:
        drift = mine.drift(other)
        keep_lasting = drift.keep_lasting(self._latest.get(peer, Drift()))
        self._latest[peer] = drift
        self.views[peer] = PeerView(reached=True, drift=keep_lasting)
        return self.views[peer]

    def record_failure(self, peer: str, fault: str) -> PeerView:
        self._latest.pop(peer, None)
        self.views[peer] = PeerView(fault=fault)
        return self.views[peer]
