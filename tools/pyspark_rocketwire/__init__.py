"""Where PySpark finds the data source ``rocketmq-pcap``: it imports every top-level module named
``pyspark_*``.

Rules of this file: every session imports it, also without RocketMQ; the import is cheap, has no
effect and only needs PySpark.
"""

from rocketwire_tools.spark.correlation import correlate as correlate
from rocketwire_tools.spark.source import DefaultSource as DefaultSource
from rocketwire_tools.spark.source import register as register

__all__ = ["DefaultSource", "correlate", "register"]
