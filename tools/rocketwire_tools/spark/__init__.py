"""Captures as DataFrames.

Rules of this package: only ``source`` and ``correlation`` import PySpark; ``planning`` and
``reading`` select, cut and read files without Java. Users import ``pyspark_rocketwire``, where
Spark finds the source, too.
"""
