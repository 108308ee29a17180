"""Where PySpark finds the data source ``rocketmq``: it imports every top-level module named
``pyspark_*``, and takes one data source of each.

Rules of this file: every session imports it, also without RocketMQ; the import is cheap, has no
effect and only needs PySpark.
"""

from rocketwire_tools.spark.topics.source import DefaultSource as DefaultSource
from rocketwire_tools.spark.topics.source import register as register

__all__ = ["DefaultSource", "register"]
