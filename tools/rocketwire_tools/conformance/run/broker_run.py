"""``BrokerRun``: cases against a running broker.

Cases use topics, groups and clients of their own and remove them, so a broker in use may be asked.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from rocketwire.wire.command import RemotingCommand
from rocketwire_tools.conformance.model.steps import Request
from rocketwire_tools.conformance.run.live_server import LiveServer
from rocketwire_tools.conformance.run.match import lines_of
from rocketwire_tools.conformance.run.runner import (
    PROBE_SECONDS,
    ProbeResult,
    SuiteRun,
    examine,
    response,
    version_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.model.placeholders import Names
    from rocketwire_tools.conformance.run.raw_connection import RawConnection
    from rocketwire_tools.conformance.run.target import Target

# Cases at once; most of them wait for a time to pass.
MAX_CONCURRENT_CASES: Final = 24

_CONFIGURATION: Final = RemotingCommand(code=26, opaque=77)
_CLUSTERS: Final = RemotingCommand(code=106, opaque=78)


def removals(names: Names) -> list[Request]:
    topics, groups = list(names.used.get("topic", ())), list(names.used.get("group", ()))
    for group in groups:
        topics += [f"%RETRY%{group}", f"%DLQ%{group}"]
    deleted = [Request(code=215, ext={"topic": topic}) for topic in topics]
    return [
        *(Request(code=207, ext={"groupName": name, "cleanOffset": "true"}) for name in groups),
        *deleted,
    ]


class BrokerRun(SuiteRun):
    async def probe(self, target: Target) -> ProbeResult:
        """Ask for the configuration, which cases need; raises ``UnreachableError``."""
        return await examine(target, self._examine, PROBE_SECONDS * self.settings.patience)

    async def _examine(self, link: RawConnection, seconds: float) -> ProbeResult:
        answer = await response(link, _CONFIGURATION, seconds)
        if answer is None:
            return ProbeResult(f"accepts connections, but does not respond within {seconds:g} s")
        if answer.code != 0:
            clusters = await response(link, _CLUSTERS, seconds)
            if clusters is not None and clusters.code == 0:
                return ProbeResult("is a name server, not a broker")
            return ProbeResult(f"does not show its configuration (code {answer.code})")
        configuration = lines_of(answer.body or b"")
        saved = {
            "cluster": configuration.get("brokerClusterName", "DefaultCluster"),
            "broker": configuration.get("brokerName", "broker-a"),
        }
        self.settings = dataclasses.replace(
            self.settings, configuration=configuration, saved=saved, removals=removals
        )
        return ProbeResult(None, version_name(answer.version))

    async def run_on_live_server(self, cases: Sequence[Case]) -> None:
        if self.target is None:
            return
        try:
            await self.run_all(cases, self.target, MAX_CONCURRENT_CASES)
        finally:
            live = LiveServer(self.target, self.settings.patience)
            self.left_behind += await live.clean_up(self.traces)
