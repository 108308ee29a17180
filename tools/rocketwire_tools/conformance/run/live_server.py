"""A server that the suite did not start: its data before the run, and removal of test data.

Cases remove their data. If that fails because a connection was lost or the suite was killed, the
end of the run or the start of the next one removes it. KV namespaces remain, because no request
removes one; all cases share one namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import trio

from rocketwire.errors import DecodeError
from rocketwire.wire.json import fastjson
from rocketwire_tools.conformance.model.placeholders import SHARED_NAMESPACE, Names
from rocketwire_tools.conformance.model.steps import Request
from rocketwire_tools.conformance.run.executor import CaseFailedError, CaseRun, UnreachableError
from rocketwire_tools.conformance.run.match import lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.conformance.model.case import Case
    from rocketwire_tools.conformance.run.executor import Traces
    from rocketwire_tools.conformance.run.target import Target

# ``NamesrvUtil.NAMESPACE_ORDER_TOPIC_CONFIG``
ORDER_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"
_SECONDS: Final = 20.0
_REMOVED_BY: Final = {
    102: "KV entry",
    104: "broker",
    216: "topic",
    207: "group",
    215: "topic",
}


def stores_kv(case: Case) -> bool:
    return "{namespace}" in repr((case.steps, case.cleanup))


class LiveServer:
    def __init__(self, target: Target, patience: float) -> None:
        self._target = target
        self._patience = patience

    async def order_config(self) -> object:
        table = await self._table(ORDER_NAMESPACE)
        return None if table is None else {"table": table}

    async def remove_entries(self) -> None:
        for key in await self._table(SHARED_NAMESPACE) or ():
            await self._exchange(Request(code=102, ext={"namespace": SHARED_NAMESPACE, "key": key}))

    async def configuration(self) -> dict[str, str]:
        response = await self._exchange(Request(code=319))
        return {} if response is None or response.code else lines_of(response.body or b"")

    async def _restore(self, configuration: Mapping[str, str]) -> list[str]:
        # Set changed properties again; returns a sentence for each that remains changed
        changed = await self._find_changed(configuration)
        if changed:
            lines = "".join(f"{name}={_escape(configuration[name])}\n" for name in changed)
            await self._exchange(Request(code=318, body=lines))
            changed = await self._find_changed(configuration)
        return [f"could not set {name} to {configuration[name]!r} again" for name in changed]

    async def _find_changed(self, configuration: Mapping[str, str]) -> list[str]:
        there = await self.configuration() if configuration else {}
        return [name for name, old in configuration.items() if there.get(name) != old]

    async def clean_up(
        self, traces: Traces, configuration: Mapping[str, str] | None = None
    ) -> list[str]:
        """Remove data that cases could not remove, and restore the ``configuration``.

        Returns a sentence for each remaining item.
        """
        remaining: list[str] = []
        with trio.CancelScope(shield=True), trio.move_on_after(_SECONDS * self._patience) as limit:
            remaining += await self._restore(configuration or {})
            remaining += [
                f"could not remove the {_REMOVED_BY[request.code]} {request.ext}"
                for request in traces.pending
                if await self._exchange(request) is None
            ]
            if traces.namespaces and not await self._responds():
                remaining.append("could not remove KV entries: the server does not respond")
            if SHARED_NAMESPACE in traces.namespaces:
                await self.remove_entries()
            for namespace in sorted(traces.namespaces):
                table = await self._table(namespace)
                if table is not None:
                    remaining.append(_sentence(namespace, table))
        if limit.cancelled_caught:
            remaining.append("the server did not respond during the cleanup")
        return remaining

    async def _table(self, namespace: str) -> dict[str, object] | None:
        # The entries of a namespace; None if it does not exist
        response = await self._exchange(Request(code=219, ext={"namespace": namespace}))
        if response is None or response.code != 0 or response.body is None:
            return None
        try:
            body = fastjson.loads(response.body)
        except DecodeError:
            return None
        table = cast("dict[str, object]", body).get("table") if isinstance(body, dict) else None
        return cast("dict[str, object]", table) if isinstance(table, dict) else None

    async def _responds(self) -> bool:
        request = Request(code=219, ext={"namespace": SHARED_NAMESPACE})
        return await self._exchange(request) is not None

    async def _exchange(self, request: Request) -> RemotingCommand | None:
        async with trio.open_nursery() as nursery:
            case_run = CaseRun(self._target, Names("", 0), nursery, patience=self._patience)
            try:
                arrival = await case_run.request(request)
            except (UnreachableError, CaseFailedError):
                arrival = None
            finally:
                await case_run.close()
                nursery.cancel_scope.cancel()
        return None if arrival is None else arrival.command


def _escape(value: str) -> str:
    text = value.replace("\\", "\\\\")
    return "".join(one if " " < one < "\x7f" else f"\\u{ord(one):04x}" for one in text)


def _sentence(namespace: str, table: dict[str, object]) -> str:
    name = namespace or '""'
    if not table:
        return f"leaves the empty KV namespace {name} behind, because no request removes namespaces"
    return f"leaves the KV namespace {name} behind with {len(table)} entries"
