"""Answers that come at once or later."""

from __future__ import annotations

from rocketwire.wire.command import RemotingCommand
from rocketwire_broker.handlers.logical.reply import Reply
from rocketwire_broker.state.response import RefusedError, Response
from tests.support.broker import BrokerAtHand


def test_an_answer_is_returned_or_sent_later() -> None:
    home = BrokerAtHand()
    client = home.connect()
    request = RemotingCommand(code=30, opaque=7, ext_fields={"topic": "t"})
    reply = Reply(home.broker, request, client.peer, home.now)
    early = Reply(home.broker, request, client.peer, home.now)
    early(Response(remark="now"))

    assert early.now_or_later() == Response(remark="now")
    assert reply.now_or_later() is None
    reply(Response(remark="later"))
    home.settle()
    answer = client.answer_to(7)
    assert answer is not None
    assert answer.remark == "later"


def test_a_refusal_of_a_handler_is_an_answer() -> None:
    home = BrokerAtHand()
    client = home.connect()
    request = RemotingCommand(code=30, opaque=7, ext_fields={"topic": "t"})

    def refuse(*_: object) -> Response:
        raise RefusedError(17, "no")

    reply = Reply(home.broker, request, client.peer, home.now)
    assert reply.here(refuse, {}) == Response(17, "no")
