"""Where PySpark finds the data source ``rocketmq-pcap``: it imports every top-level module named ``pyspark_*``.

Rules of this file: it runs in sessions that have never heard of RocketMQ; importing it is cheap, has no effect and needs
nothing but PySpark.
"""

from rocketwire_tools.spark.correlation import correlate as correlate
from rocketwire_tools.spark.source import DefaultSource as DefaultSource
from rocketwire_tools.spark.source import register as register

__all__ = ["DefaultSource", "correlate", "register"]
