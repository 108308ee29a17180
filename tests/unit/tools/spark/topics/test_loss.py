"""Lost messages are an error or a warning, with queue, offsets and reason."""

from __future__ import annotations

import pytest

from rocketwire_tools.spark.topics import loss

LOST = loss.Loss("orders", "broker-a", 3, 10, 15, loss.DELETED)


def test_a_loss_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(loss.DataLossError) as error:
        loss.report_loss(LOST, fails=True)

    assert str(error.value) == (
        "topic orders, broker broker-a, queue 3: messages 10 to 14 are lost, they were deleted:"
        " the retention time of the broker has passed; set failOnDataLoss=false to go on without"
        " them, or choose other startingOffsets and a new checkpoint"
    )


def test_or_it_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    loss.report_loss(loss.Loss("orders", "b", 0, 7, None, loss.QUEUE_GONE), fails=False)

    assert capsys.readouterr().err == (
        "rocketmq: topic orders, broker b, queue 0: messages 7 to the end are lost,"
        " no broker has the queue any more\n"
    )
