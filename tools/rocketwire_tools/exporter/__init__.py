"""``rocketwire-exporter``: metrics of a RocketMQ cluster for Prometheus.

The names are those of Apache's rocketmq-exporter; ``docs/guide/exporter.md`` compares the values.
"""
