"""The lag of queries, from Spark's progress."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def progress(*sources: tuple[str | None, str | None], name: str | None = "orders") -> Any:
    ends = [SimpleNamespace(endOffset=end, latestOffset=latest) for end, latest in sources]
    return SimpleNamespace(name=name, id="1-2", sources=ends)


def test_it_is_the_difference_of_two_offsets() -> None:
    from pyspark_rocketmq import LagListener, QueueLag

    exported: list[Any] = []
    listener = LagListener(exported.extend)

    listener.onQueryStarted(SimpleNamespace())  # type: ignore[arg-type]  # an event of Spark
    listener.onQueryProgress(
        SimpleNamespace(  # type: ignore[arg-type]  # an event of Spark
            progress=progress(
                ('{"t": {"a": {"0": 7, "1": 3}}}', '{"t": {"a": {"0": 9}}}'),
                ("12", "15"),
                ("[1", None),
            )
        )
    )
    listener.onQueryProgress(SimpleNamespace(progress=progress((None, None))))  # type: ignore[arg-type]  # an event of Spark
    listener.onQueryIdle(None)
    listener.onQueryTerminated(SimpleNamespace())  # type: ignore[arg-type]  # an event of Spark

    assert exported == [
        QueueLag(query="orders", topic="t", broker="a", queue_id=0, offset=7, end=9),
        QueueLag(query="orders", topic="t", broker="a", queue_id=1, offset=3, end=3),
    ]
    assert [lag.messages for lag in exported] == [2, 0]
