"""Topics as DataFrames, read and written, in batches and streams.

Rules of this package: only ``source`` and ``connection`` import PySpark; ``planning`` and
``reading`` work without Java. Room ``sink`` writes. Users import ``pyspark_rocketmq``, where Spark
finds the source, too.
"""
