"""Transactions in memory: their outcomes, and checks by a broker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from rocketwire.client.message import Message
from rocketwire.client.producer.transactions import LocalTransactionState
from rocketwire.codes import RequestCode as Code
from rocketwire.messages import encode_header
from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
from rocketwire.testing import reply
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.producer_fakes import send_response, world

if TYPE_CHECKING:
    from rocketwire.client.send_result import SendResult

COMMIT, ROLLBACK, UNKNOW = LocalTransactionState
HALF = StoredMessage(
    topic="T",
    body=b"x",
    properties={"PGROUP": "pg", "UNIQ_KEY": "K", "TRAN_MSG": "true"},
    store_host=Host(b"\x0a\0\0\2", 10911),
)
ASKED = RemotingCommand(
    code=Code.CHECK_TRANSACTION_STATE,
    ext_fields=encode_header(
        CheckTransactionStateRequestHeader(
            topic="T",
            tran_state_table_offset=3,
            commit_log_offset=99,
            msg_id="M",
            transaction_id="X",
            bname="a",
        )
    ),
    body=encode_stored_message(HALF),
)


@pytest.mark.parametrize("state", [COMMIT, ROLLBACK, UNKNOW, None])
async def test_the_outcome_of_a_transaction_is_sent_to_the_broker(
    state: LocalTransactionState | None,
) -> None:
    calls: list[tuple[Message, SendResult]] = []

    def execute(message: Message, result: SendResult) -> LocalTransactionState | None:
        calls.append((message, result))
        return state

    async with world(brokers=("a",)) as it:
        ended = await it.producer.send_in_transaction(Message("T", b"x", delay_level=3), execute)
        ended = await it.a.asked(Code.END_TRANSACTION)

        properties = decode_properties((it.sent()[0].ext_fields or {})["i"])
        fields = ended.ext_fields or {}
        assert (properties["TRAN_MSG"], properties["PGROUP"]) == ("true", "pg")
        assert "DELAY" not in properties
        assert (it.sent()[0].ext_fields or {})["f"] == "4"
        assert ended.state is (state or UNKNOW)
        assert calls[0][1] == ended.send_result
        assert ended.is_oneway
        assert fields == {
            "topic": "T",
            "producerGroup": "pg",
            "tranStateTableOffset": "7",
            "commitLogOffset": "16",
            "commitOrRollback": str((state or UNKNOW).value),
            "fromTransactionCheck": "false",
            "msgId": ended.send_result.msg_id,
            "transactionId": "TX",
            "bname": "a",
        }


async def test_a_half_message_that_is_not_replicated_is_rolled_back() -> None:
    def execute(_: Message, __: SendResult) -> LocalTransactionState:
        raise AssertionError

    def unsafe(request: RemotingCommand) -> RemotingCommand:
        return reply(code=10, ext_fields=send_response(request).ext_fields)

    async with world(brokers=("a",)) as it:
        it.a.on(Code.SEND_MESSAGE_V2, unsafe)
        ended = await it.producer.send_in_transaction(Message("T", b"x"), execute)
        ended = await it.a.asked(Code.END_TRANSACTION)

        assert ended.state is ROLLBACK
        assert (ended.ext_fields or {})["commitOrRollback"] == "12"


async def test_a_failing_local_transaction_raises_and_is_unknown() -> None:
    async def execute(_: Message, __: SendResult) -> LocalTransactionState:
        raise ValueError("no")

    async with world(brokers=("a",)) as it:
        with pytest.raises(ValueError, match="no"):
            await it.producer.send_in_transaction(Message("T", b"x"), execute)
        ended = await it.a.asked(Code.END_TRANSACTION)

        assert (ended.ext_fields or {})["commitOrRollback"] == "0"
        assert "ValueError" in (ended.remark or "")


async def test_an_outcome_that_cannot_be_sent_is_no_error() -> None:
    async with world(brokers=("a",)) as it:

        async def execute(_: Message, __: SendResult) -> LocalTransactionState:
            await it.a.go_down()
            return COMMIT

        ended = await it.producer.send_in_transaction(Message("T", b"x"), execute)
        assert ended.state is COMMIT


@pytest.mark.parametrize("state", [COMMIT, ROLLBACK, None, ValueError("no")])
async def test_a_check_is_answered_at_its_broker(
    state: LocalTransactionState | ValueError | None,
) -> None:
    checked: list[StoredMessage] = []

    async def check(message: StoredMessage) -> LocalTransactionState | None:
        checked.append(message)
        if isinstance(state, ValueError):
            raise state
        return state

    has_failed = isinstance(state, ValueError)
    code = state.value if isinstance(state, LocalTransactionState) else UNKNOW.value
    async with world(brokers=("a",), check=check) as it:
        await it.producer.send(Message("T", b"x"))
        await it.a.send_oneway(ASKED)
        ended = await it.a.asked(Code.END_TRANSACTION)

        fields = ended.ext_fields or {}
        assert (checked[0].topic, checked[0].body) == ("T", b"x")
        assert fields["commitOrRollback"] == str(code)
        assert ("ValueError" in (ended.remark or "")) == has_failed
        assert fields["fromTransactionCheck"] == "true"
        assert (fields["msgId"], fields["transactionId"]) == ("K", "X")
        assert (fields["tranStateTableOffset"], fields["commitLogOffset"]) == ("3", "99")


async def test_a_running_check_is_not_started_again() -> None:
    checked: list[str] = []
    decision = trio.Event()

    async def check(message: StoredMessage) -> LocalTransactionState:
        checked.append(message.msg_id)
        await decision.wait()
        return COMMIT

    second = replace(ASKED, ext_fields={**(ASKED.ext_fields or {}), "transactionId": "Y"})
    async with world(brokers=("a",), check=check) as it:
        await it.producer.send(Message("T", b"x"))
        for question in (ASKED, ASKED, second, ASKED):
            await it.a.send_oneway(question)
        await trio.testing.wait_all_tasks_blocked()
        assert len(checked) == 2
        decision.set()
        await it.a.asked(Code.END_TRANSACTION)
        await trio.testing.wait_all_tasks_blocked()
        await it.a.send_oneway(ASKED)
        await trio.testing.wait_all_tasks_blocked()

    assert len(checked) == 3


async def test_without_a_check_nothing_is_answered(caplog: pytest.LogCaptureFixture) -> None:
    async with world(brokers=("a",)) as it:
        await it.producer.send(Message("T", b"x"))
        await it.a.send_oneway(ASKED)
        await it.producer.send(Message("T", b"x"))

        assert Code.END_TRANSACTION not in it.a.codes()
    assert "no check function" in caplog.text
