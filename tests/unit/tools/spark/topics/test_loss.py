"""Lost messages are an error or a warning, with queue, offsets and reason."""

import pytest

from rocketwire_tools.spark.topics import loss

LOST = loss.Loss("orders", "broker-a", 3, 10, 15, loss.DELETED)


def test_loss_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(loss.DataLossError) as error:
        loss.report_loss(LOST, fails=True)

    assert str(error.value) == (
        "topic orders, broker broker-a, queue 3: messages 10 to 14 are lost, they were deleted:"
        " the retention time of the broker has passed; set failOnDataLoss=false to go on without"
        " them, or choose other startingOffsets and a new checkpoint"
    )
