"""Spark beside the engine: ``python -m bench.spark``."""
