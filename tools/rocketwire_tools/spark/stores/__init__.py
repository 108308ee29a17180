"""Stores of brokers as DataFrames.

Rules of this package: only ``source`` imports PySpark; the other modules plan and read without
Java. Users import ``pyspark_rocketwire_store``, where Spark finds the source, too.
"""
