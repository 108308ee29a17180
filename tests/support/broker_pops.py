"""A consumer that pops from a broker without sockets."""

from typing import Any, Protocol

from rocketwire.messages import decode_header
from rocketwire.messages.pop import PopMessageResponseHeader
from rocketwire.policy.pop_handle import handle_of, with_handles
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.stored import StoredMessage
from tests.support.broker import Requests, messages

GROUP = "poppers"


class Clock(Protocol):
    @property
    def now(self) -> int: ...


class Popper:
    def __init__(self, home: Clock, client: Requests) -> None:
        self.client = client
        self._home = home

    def ask(
        self,
        *,
        queue: int = 0,
        count: int = 32,
        invisible: int = 10_000,
        poll: int = 0,
        order: bool = False,
        **changes: object,
    ) -> int:
        """Ask for messages; return the request's number. Times are milliseconds."""
        fields: dict[str, object] = {
            "consumerGroup": GROUP,
            "topic": "orders",
            "queueId": queue,
            "maxMsgNums": count,
            "invisibleTime": invisible,
            "pollTime": poll,
            "bornTime": self._home.now,
            "initMode": 0,
            "order": order,
        }
        return self.client.ask(200050, {**fields, **changes})

    def answer(self, **settings: Any) -> RemotingCommand:
        """Ask for messages, and return the answer, which must come at once."""
        return self.client.take_answer(self.ask(**settings))

    def pop(self, *, order: bool = False, **settings: object) -> list[StoredMessage]:
        return read_popped(self.answer(order=order, **settings), order=order)

    def settle(self, code: int, message: StoredMessage, **changes: object) -> RemotingCommand:
        handle = handle_of(message)
        fields: dict[str, object] = {
            "consumerGroup": GROUP,
            "topic": handle.real_topic("orders", GROUP),
            "queueId": handle.queue_id,
            "extraInfo": str(handle),
            "offset": handle.queue_offset,
        }
        return self.client.call(code, {**fields, **changes})


def read_popped(answer: RemotingCommand, *, order: bool = False) -> list[StoredMessage]:
    if answer.code:
        return []
    header = decode_header(PopMessageResponseHeader, answer.ext_fields)
    return list(with_handles(messages(answer), header, "broker-a", orderly=order))
