"""``correlate``: pairs requests and responses that different tasks have read.

Rules of this file: the pairs are those of ``rocketwire_tools.pcap.rows.pairing``, as window
functions, so that the JVM does the work and only narrow columns are shuffled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EARLY_NS: Final = 250_000_000  # As in ``pairing``, which a driver does not need to import
NEEDED: Final = (
    "time_ns",
    "end_time_ns",
    "connection",
    "src",
    "src_port",
    "dst",
    "dst_port",
    "kind",
    "code",
    "opaque",
)


def correlate(frames: DataFrame, *, within_file: bool = False) -> DataFrame:
    """Find the request of each response, in any part of the capture.

    Args:
        frames: rows of ``rocketmq-pcap``, with the columns of ``NEEDED``.
        within_file: whether connections end with a file, as for ``rocketwire-pcap decode``;
            otherwise they continue in the next file, as in rotated ones.

    Returns:
        The same rows, with new ``request_code`` and ``latency_ns``.

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
        # one-way requests have no response
        f.coalesce(col("kind"), f.lit("?")).isin("request", "response"),
    ]
    if within_file:
        keys.append(col("file"))
    # rows are sorted by the keys, and the hash decides most comparisons without the texts
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
    paired = frames.withColumns({"request_code": code, "latency_ns": latency})
    return paired.select(*dict.fromkeys([*frames.columns, "request_code", "latency_ns"]))
