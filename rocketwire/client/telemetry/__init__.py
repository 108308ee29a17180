"""Hooks that report to OpenTelemetry and Prometheus.

Each module needs the package of its extra. A program that uses no such hook imports neither.
"""
