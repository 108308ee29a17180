"""JSON as RocketMQ's Java peers write and read it (fastjson).

It may import ``rocketwire.wire.values`` and ``rocketwire.errors``.
"""
