"""``correlate``: requests and replies that were read by different tasks.

Rules of this file: the same pairs as ``rocketwire_tools.pcap.rows.pairing`` finds, said as window functions, so that the JVM does
the work and narrow columns alone are shuffled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EARLY_NS: Final = 250_000_000
"""As in ``pairing``, which a driver need not import."""
NEEDED: Final = (
    "time_ns", "end_time_ns", "connection", "src", "src_port", "dst", "dst_port", "kind", "code", "opaque",
)  # fmt: skip


def correlate(frames: DataFrame, *, within_file: bool = False) -> DataFrame:
    """Find the request of each response, wherever the two were captured.

    Args:
        frames: rows of ``rocketmq-pcap``, with the columns of ``NEEDED``.
        within_file: whether a file's connections are its own, as for ``rocketwire-pcap decode``; otherwise
            they go on in the next file, as they do in rotated ones.

    Returns:
        The same rows, with ``request_code`` and ``latency_ns`` anew.

    Raises:
        ValueError: a column is missing.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    missing = [
        name for name in (*NEEDED, *(["file"] if within_file else [])) if name not in frames.columns
    ]
    if missing:
        raise ValueError(f"correlate needs the columns {', '.join(missing)}")
    col, when = f.col, f.when
    answers = col("kind") == "response"
    asker = when(answers, f.concat_ws(":", "dst", "dst_port"))
    keys = [
        col("connection"),
        asker.otherwise(f.concat_ws(":", "src", "src_port")),
        col("opaque"),
        # what waits for no answer pairs with nothing
        f.coalesce(col("kind"), f.lit("?")).isin("request", "response"),
    ]
    if within_file:
        keys.append(col("file"))
    # rows are sorted by the keys, and a number tells most of them apart before a text is looked at
    order = Window.partitionBy(f.xxhash64(*keys), *keys).orderBy("time_ns", "end_time_ns")

    def near(name: str, steps: int) -> Column:
        return f.lag(name, steps).over(order)

    follows = answers & (near("kind", 1) == "request")
    early = (
        answers
        & f.coalesce(near("kind", 1) != "request", f.lit(True))
        & (near("kind", -1) == "request")
        & (near("time_ns", -1) - col("time_ns") < EARLY_NS)
        & ~f.coalesce(
            (near("kind", -2) == "response") & (near("time_ns", -2) - col("time_ns") < EARLY_NS),
            f.lit(False),
        )
    )
    code = when(follows, near("code", 1)).when(early, near("code", -1))
    latency = when(follows, col("time_ns") - near("time_ns", 1))
    found = frames.withColumns({"request_code": code, "latency_ns": latency})
    return found.select(*dict.fromkeys([*frames.columns, "request_code", "latency_ns"]))
