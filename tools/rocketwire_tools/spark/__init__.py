"""Captures as DataFrames.

Rules of this package: ``source`` and ``correlation`` alone know PySpark; what is read, where it is cut and what comes of it is
``reading`` and ``planning``, which run without Java.  Users import ``pyspark_rocketwire``, where Spark finds the source too.
"""
