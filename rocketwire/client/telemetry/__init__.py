"""Hooks that report to OpenTelemetry and Prometheus; each needs the package of its extra."""
