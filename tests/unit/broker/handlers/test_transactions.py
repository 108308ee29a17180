"""37 and 323: commits, rollbacks, what is refused, and new checks of what was given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.broker import BrokerAtHand, bodies, messages

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from tests.support.broker import Client

HALF = "RMQ_SYS_TRANS_HALF_TOPIC"
GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"
COMMIT, ROLLBACK = 8, 12


def send_half(client: Client, **changes: str | None) -> RemotingCommand:
    properties = {"TRAN_MSG": "true", "PGROUP": "p", "UNIQ_KEY": "KEY1", **changes}
    return client.send(queue=3, properties=properties, h=7)


def end(client: Client, decision: int, offset: int = 0, **changes: Any) -> RemotingCommand:
    """Decide on the half message at an offset of its queue."""
    half = messages(client.pulled(offset, HALF))[0]
    return client.call(37, _decision(half.queue_offset, half.commit_log_offset, decision) | changes)


def _decision(offset: int, position: int, decision: int) -> dict[str, object]:
    return {
        "producerGroup": "p",
        "tranStateTableOffset": offset,
        "commitLogOffset": position,
        "commitOrRollback": decision,
        "msgId": "KEY1",
        "transactionId": "KEY1",
    }


def test_a_message_that_was_given_up_can_still_be_committed_once() -> None:
    home = BrokerAtHand()
    client = home.connect()
    send_half(client, TRANSACTION_CHECK_TIMES="2147483647")
    home.pass_time(60_000)
    assert home.broker.store.max_offset(HALF, 0) == 1

    assert end(client, COMMIT).code == 0
    assert end(client, COMMIT).code == 0

    assert bodies(client.pulled(queue=3)) == [b"body"]


def test_decision_after_the_own_immunity_time_waits_for_the_check() -> None:
    home = BrokerAtHand()
    client = home.connect()
    send_half(client, CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    home.pass_time(10_001)

    assert end(client, COMMIT).code == 604
    assert end(client, COMMIT, fromTransactionCheck=True).code == 0


# ---------------------------------------------------------------------------- 323


def test_the_checks_of_a_message_that_was_given_up_begin_anew() -> None:
    home = BrokerAtHand(transaction_check_max=1)
    client = home.connect()
    send_half(client)
    home.pass_time(60_000)
    [lost] = messages(client.pulled(topic=GIVEN_UP))

    answer = client.call(323, {"msgId": f"7F00000100002A9F{lost.commit_log_offset:016X}"})

    [half] = messages(client.pulled(2, HALF))
    assert answer.code == 0
    assert (half.properties or {})["TRANSACTION_CHECK_TIMES"] == "0"
    assert end(client, COMMIT, offset=2).code == 0
    assert bodies(client.pulled(queue=3)) == [b"body"]


def test_checks_of_an_open_transaction_begin_anew_and_it_stays_one() -> None:
    home = BrokerAtHand()
    client = home.connect()
    answer = send_half(client)

    assert client.call(323, {"msgId": (answer.ext_fields or {})["msgId"]}).code == 0

    assert end(client, COMMIT, offset=0).code == 0
    assert end(client, COMMIT, offset=1).code == 0
    assert len(bodies(client.pulled(queue=3))) == 1
