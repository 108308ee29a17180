"""Compares Spark with the engine: ``python -m bench.spark``."""
