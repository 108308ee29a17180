"""Data that requests of cases store in a server, and the requests that remove it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rocketwire_tools.conformance.model.steps import Request

REGISTER: Final = 103
_PUT_KV: Final = 100
_REMOVALS: Final = {REGISTER: 104, _PUT_KV: 102, 217: 216}
"""Request codes that store data, and the code that removes it."""


@dataclass(slots=True)
class Traces:
    namespaces: set[str] = field(default_factory=set[str])  # KV namespaces with stored entries
    # requests that remove data and are not answered yet
    pending: list[Request] = field(default_factory=list[Request])
    # by broker name and cluster, the request that unregisters the broker there
    clusters: dict[str, dict[str, Request]] = field(default_factory=dict[str, dict[str, Request]])

    def note(self, request: Request) -> None:
        if request.code not in _REMOVALS:
            return
        fields = request.ext or {}
        removal = Request(code=_REMOVALS[request.code], ext=request.ext)
        if removal not in self.pending:
            self.pending.append(removal)
        name, cluster = fields.get("brokerName"), fields.get("clusterName")
        if request.code == REGISTER and name and cluster:
            self.clusters.setdefault(name, {})[cluster] = removal
        if request.code == _PUT_KV and "namespace" in fields:
            self.namespaces.add(fields["namespace"])

    def in_several_clusters(self) -> list[tuple[str, Request]]:
        """Brokers registered in several clusters, with the unregistration for each cluster.

        Java's server removes the name from one cluster only, that of the request or of the first
        registration (``RouteInfoManager.unRegisterBroker``). The broker must be registered and
        unregistered once more in each cluster.
        """
        return [
            (name, request)
            for name, requests in self.clusters.items()
            if len(requests) > 1
            for request in requests.values()
        ]
