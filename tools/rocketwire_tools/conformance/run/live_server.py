"""A server that the suite has not started: what is there before a run, and what the run leaves in it.

Cases remove what they stored.  What they could not, because the connection was lost or the suite was killed, is removed at the
end of the run or at the beginning of the next one.  One thing stays: no request removes a KV namespace, so all cases share one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson
from rocketwire_tools.conformance.model.placeholders import SHARED_NAMESPACE, Names
from rocketwire_tools.conformance.model.steps import Request
from rocketwire_tools.conformance.run.executor import CaseFailedError, Play, UnreachableError

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.run.stored_traces import Traces
    from rocketwire_tools.conformance.run.target import Target

ORDER_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"
"""``NamesrvUtil.NAMESPACE_ORDER_TOPIC_CONFIG``"""
_SECONDS: Final = 20.0
_REMOVED_BY: Final = {102: "KV entry", 104: "broker", 216: "topic"}


def stores_kv(case: Case) -> bool:
    """Whether a case uses the namespace that all cases on a live server share."""
    return "{namespace}" in repr((case.steps, case.cleanup))


class LiveServer:
    """What a run asks beside its cases."""

    def __init__(self, target: Target, patience: float) -> None:
        """Nothing is asked yet.

        Args:
            target: the server.
            patience: factor for all deadlines.
        """
        self._target = target
        self._patience = patience

    async def order_config(self) -> object:
        """The order configuration that is stored there, as JSON; None for none."""
        table = await self._table(ORDER_NAMESPACE)
        return None if table is None else {"table": table}

    async def remove_entries(self) -> None:
        """Remove the KV entries of an earlier run that was killed."""
        for key in await self._table(SHARED_NAMESPACE) or ():
            await self._said(Request(code=102, ext={"namespace": SHARED_NAMESPACE, "key": key}))

    async def clean_up(self, traces: Traces) -> list[str]:
        """Remove what cases could not remove; returns what stays, one sentence each.

        Args:
            traces: what the cases stored.
        """
        stays: list[str] = []
        with trio.CancelScope(shield=True), trio.move_on_after(_SECONDS * self._patience) as limit:
            stays += [
                f"could not remove the {_REMOVED_BY[request.code]} {request.ext}"
                for request in traces.undone
                if await self._said(request) is None
            ]
            if SHARED_NAMESPACE in traces.namespaces:
                await self.remove_entries()
            for namespace in sorted(traces.namespaces):
                table = await self._table(namespace)
                if table is not None:
                    stays.append(_sentence(namespace, table))
        if limit.cancelled_caught:
            stays.append("the server did not answer while the suite cleaned up")
        return stays

    async def _table(self, namespace: str) -> dict[str, object] | None:
        """The entries of a namespace; None where it does not exist."""
        answer = await self._said(Request(code=219, ext={"namespace": namespace}))
        if answer is None or answer.code != 0 or answer.body is None:
            return None
        try:
            body = fastjson.loads(answer.body)
        except DecodeError:
            return None
        table = cast("dict[str, object]", body).get("table") if isinstance(body, dict) else None
        return cast("dict[str, object]", table) if isinstance(table, dict) else None

    async def _said(self, request: Request) -> RemotingCommand | None:
        """The answer to one request over a connection of its own; None for none."""
        async with trio.open_nursery() as nursery:
            play = Play(self._target, Names("", 0), nursery, patience=self._patience)
            try:
                arrival = await play.request(request)
            except (UnreachableError, CaseFailedError):
                arrival = None
            finally:
                await play.close()
                nursery.cancel_scope.cancel()
        return None if arrival is None else arrival.command


def _sentence(namespace: str, table: dict[str, object]) -> str:
    name = namespace or '""'
    if not table:
        return f"leaves the empty KV namespace {name} behind: no request removes one"
    return f"leaves the KV namespace {name} behind with {len(table)} entries"
