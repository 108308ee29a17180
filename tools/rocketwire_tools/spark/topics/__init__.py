"""Topics as DataFrames, read and written, in batches and streams.

Rules of this package: only ``source``, ``connection`` and ``lag`` import PySpark; ``planning`` and
``reading`` work without Java. Room ``sink`` writes. Users import ``pyspark_rocketmq``, where Spark
finds the source, too.
"""
