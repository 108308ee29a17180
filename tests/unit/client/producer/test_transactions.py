"""Transactions in memory: their outcomes, and checks by a broker."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import trio
import trio.testing

from rocketwire.client.message import Message
from rocketwire.client.producer.transactions import LocalTransactionState
from rocketwire.client.send_result import SendResult
from rocketwire.codes import RequestCode as Code
from rocketwire.codes import ResponseCode
from rocketwire.messages import encode_header
from rocketwire.messages.transactions import CheckTransactionStateRequestHeader
from rocketwire.wire.command import RemotingCommand
from rocketwire.wire.message.host import Host
from rocketwire.wire.message.properties import decode_properties
from rocketwire.wire.message.stored import StoredMessage, encode_stored_message
from tests.support.fakes.producer_fakes import World, send_response, world

COMMIT, ROLLBACK, UNKNOW = LocalTransactionState
HALF = StoredMessage(
    topic="T",
    body=b"x",
    properties={"PGROUP": "pg", "UNIQ_KEY": "K", "TRAN_MSG": "true"},
    store_host=Host(b"\x0a\0\0\2", 10911),
)
CHECK = RemotingCommand(
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


@pytest.fixture
async def single() -> AsyncGenerator[World]:
    """A producer and one broker."""
    async with world(brokers=("a",)) as opened:
        yield opened


@pytest.mark.parametrize("state", [COMMIT, ROLLBACK, UNKNOW, None])
async def test_the_broker_gets_the_outcome(
    single: World, state: LocalTransactionState | None
) -> None:
    calls: list[tuple[Message, SendResult]] = []

    def execute(message: Message, result: SendResult) -> LocalTransactionState | None:
        calls.append((message, result))
        return state

    message = Message("T", b"x", delay_level=3)
    result = await single.producer.send_in_transaction(message, execute)
    end = await single.a.asked(Code.END_TRANSACTION)

    half = single.sent()[0].ext_fields or {}
    properties = decode_properties(half["i"])
    assert (properties["TRAN_MSG"], properties["PGROUP"]) == ("true", "pg")
    assert "DELAY" not in properties
    assert half["f"] == "4"
    assert result.state is (state or UNKNOW)
    assert calls[0][1] == result.send_result
    assert end.is_oneway
    assert end.ext_fields == {
        "topic": "T",
        "producerGroup": "pg",
        "tranStateTableOffset": "7",
        "commitLogOffset": "16",
        "commitOrRollback": str((state or UNKNOW).value),
        "fromTransactionCheck": "false",
        "msgId": result.send_result.msg_id,
        "transactionId": "TX",
        "bname": "a",
    }


async def test_a_half_message_that_is_not_replicated_is_rolled_back(single: World) -> None:
    def execute(_: Message, __: SendResult) -> LocalTransactionState:
        raise AssertionError

    def respond(request: RemotingCommand) -> RemotingCommand:
        return replace(send_response(request), code=ResponseCode.FLUSH_DISK_TIMEOUT)

    single.a.on(Code.SEND_MESSAGE_V2, respond)
    result = await single.producer.send_in_transaction(Message("T", b"x"), execute)
    end = await single.a.asked(Code.END_TRANSACTION)

    assert result.state is ROLLBACK
    assert (end.ext_fields or {})["commitOrRollback"] == str(ROLLBACK.value)


async def test_a_failing_local_transaction_raises_and_is_unknown(single: World) -> None:
    async def execute(_: Message, __: SendResult) -> LocalTransactionState:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await single.producer.send_in_transaction(Message("T", b"x"), execute)
    end = await single.a.asked(Code.END_TRANSACTION)

    assert (end.ext_fields or {})["commitOrRollback"] == str(UNKNOW.value)
    assert "ValueError" in (end.remark or "")


async def test_an_outcome_that_cannot_be_sent_is_no_error(single: World) -> None:
    async def execute(_: Message, __: SendResult) -> LocalTransactionState:
        await single.a.go_down()
        return COMMIT

    result = await single.producer.send_in_transaction(Message("T", b"x"), execute)
    assert result.state is COMMIT


@pytest.mark.parametrize("state", [COMMIT, ROLLBACK, None, ValueError("no")])
async def test_a_check_is_answered(state: LocalTransactionState | ValueError | None) -> None:
    checked: list[StoredMessage] = []

    async def check(message: StoredMessage) -> LocalTransactionState | None:
        checked.append(message)
        if isinstance(state, ValueError):
            raise state
        return state

    outcome = state if isinstance(state, LocalTransactionState) else UNKNOW
    async with world(brokers=("a",), check=check) as opened:
        await opened.producer.send(Message("T", b"x"))
        await opened.a.send_oneway(CHECK)
        end = await opened.a.asked(Code.END_TRANSACTION)

    fields = end.ext_fields or {}
    assert (checked[0].topic, checked[0].body) == ("T", b"x")
    assert fields["commitOrRollback"] == str(outcome.value)
    assert ("ValueError" in (end.remark or "")) == isinstance(state, ValueError)
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

    second = replace(CHECK, ext_fields={**(CHECK.ext_fields or {}), "transactionId": "Y"})
    async with world(brokers=("a",), check=check) as opened:
        await opened.producer.send(Message("T", b"x"))
        for request in (CHECK, CHECK, second, CHECK):
            await opened.a.send_oneway(request)
        await trio.testing.wait_all_tasks_blocked()
        assert len(checked) == 2
        decision.set()
        await opened.a.asked(Code.END_TRANSACTION)
        await trio.testing.wait_all_tasks_blocked()
        await opened.a.send_oneway(CHECK)
        await trio.testing.wait_all_tasks_blocked()

    assert len(checked) == 3


async def test_checks_need_a_function(single: World, caplog: pytest.LogCaptureFixture) -> None:
    await single.producer.send(Message("T", b"x"))
    await single.a.send_oneway(CHECK)
    await single.producer.send(Message("T", b"x"))
    assert Code.END_TRANSACTION not in single.a.codes()
    assert "no check function" in caplog.text
