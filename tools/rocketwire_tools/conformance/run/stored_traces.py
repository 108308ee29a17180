"""What the requests of cases store in a server, and the requests that remove it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rocketwire_tools.conformance.model.steps import Request

REGISTER: Final = 103
_PUT_KV: Final = 100
_UNDOING: Final = {REGISTER: 104, _PUT_KV: 102, 217: 216}
"""Request codes that leave something behind, and the code that removes it."""


@dataclass(slots=True)
class Traces:
    """What requests stored.

    Attributes:
        namespaces: the KV namespaces that entries were stored in.
        undone: requests that would remove something and have not been answered.
        clusters: for each broker name, by cluster, the request that unregisters the broker there.
    """

    namespaces: set[str] = field(default_factory=set[str])
    undone: list[Request] = field(default_factory=list[Request])
    clusters: dict[str, dict[str, Request]] = field(default_factory=dict[str, dict[str, Request]])

    def note(self, request: Request) -> None:
        """Keep in mind what a request stores, if it does; all names are put in already."""
        if request.code not in _UNDOING:
            return
        fields = request.ext or {}
        undoing = Request(code=_UNDOING[request.code], ext=request.ext)
        if undoing not in self.undone:
            self.undone.append(undoing)
        name, cluster = fields.get("brokerName"), fields.get("clusterName")
        if request.code == REGISTER and name and cluster:
            self.clusters.setdefault(name, {})[cluster] = undoing
        if request.code == _PUT_KV and "namespace" in fields:
            self.namespaces.add(fields["namespace"])

    def in_several_clusters(self) -> list[tuple[str, Request]]:
        """The names of brokers that were registered in several clusters, with what unregisters them in each.

        Java's server removes the name from one cluster only, that of the request or of its first registration
        (``RouteInfoManager.unRegisterBroker``): it has to be registered and unregistered once more in each.
        """
        return [
            (name, request)
            for name, requests in self.clusters.items()
            if len(requests) > 1
            for request in requests.values()
        ]
