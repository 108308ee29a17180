"""The answer to a request about a logical queue, which may need answers of other brokers first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.errors import RocketWireError
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.tables.forwards import Forward

if TYPE_CHECKING:
    from rocketwire.messages.static_topics import LogicQueueMappingItem
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.handlers.fields import Handler
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.tables.peer import Peer

NO_ANSWER: Final = "the broker {} does not answer"


class Reply:
    """Answers a request once: at once, or later.

    Args:
        broker: the broker.
        request: the request.
        peer: its sender.
        now: the time.
    """

    def __init__(self, broker: Broker, request: RemotingCommand, peer: Peer, now: int) -> None:
        self.broker = broker
        self.request = request
        self.peer = peer
        self.now = now
        self._response: Response | None = None
        self._is_late = False

    @property
    def fields(self) -> Mapping[str, str]:
        """Fields of the request's header."""
        return self.request.ext_fields or {}

    def __call__(self, response: Response) -> None:
        if not self._is_late:
            self._response = response
        elif not self.request.is_oneway:
            self.broker.answer(self.peer, self.request.opaque, response)

    def now_or_later(self) -> Response | None:
        """Return the answer; None if it comes later."""
        self._is_late = True
        return self._response

    def here(self, handler: Handler, changes: Mapping[str, str]) -> Response | None:
        """Handle the request with other fields at this broker; None if it is answered later."""
        request = replace(self.request, ext_fields={**self.fields, **changes})
        try:
            return handler(self.broker, request, self.peer, self.now)
        except RefusedError as refused:
            return refused.response


def ask(
    handler: Handler,
    item: LogicQueueMappingItem,
    reply: Reply,
    changes: Mapping[str, str],
    go_on: Callable[[Response], None],
) -> None:
    """Handle a request about a section's queue, here or at its broker.

    Args:
        handler: handles it here.
        item: the section.
        reply: the request.
        changes: further fields of the request.
        go_on: called with the answer.
    """
    changes = {**changes, "queueId": str(item.queue_id)}
    broker = reply.broker
    if item.bname == broker.config.broker_name:
        response = reply.here(handler, changes)
        if response is not None:
            go_on(response)
        return
    name = item.bname or ""

    def answered(command: RemotingCommand | None, now: int) -> None:
        reply.now = now
        try:
            go_on(_response_of(command, name))
        except RefusedError as refused:
            reply(refused.response)
        except RocketWireError as error:
            reply(Response(ResponseCode.SYSTEM_ERROR, str(error)))

    fields = {**reply.fields, **changes, "lo": "false", "bname": name}
    broker.forwards.ask(Forward(name, reply.request.code, fields, answered), reply.now)


def _response_of(command: RemotingCommand | None, broker_name: str) -> Response:
    if command is None:
        return Response(ResponseCode.SYSTEM_ERROR, NO_ANSWER.format(broker_name))
    body = () if command.body is None else (bytes(command.body),)
    return Response(command.code, "", command.ext_fields, body)
