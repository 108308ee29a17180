"""Where PySpark finds the data source ``rocketmq``: it imports every top-level module named
``pyspark_*``, and takes one data source of each.

Rules of this file: every session imports it, also without RocketMQ; the import is cheap, has no
effect and only needs PySpark.
"""

from typing import TYPE_CHECKING

from rocketwire_tools.spark.topics.source import DefaultSource as DefaultSource
from rocketwire_tools.spark.topics.source import register as register

if TYPE_CHECKING:
    from rocketwire_tools.spark.topics.lag import LagListener as LagListener
    from rocketwire_tools.spark.topics.lag import QueueLag as QueueLag

__all__ = ["DefaultSource", "LagListener", "QueueLag", "register"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rocketwire_tools.spark.topics import lag

    return getattr(lag, name)
