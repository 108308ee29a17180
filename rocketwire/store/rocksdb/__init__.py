"""What 5.x brokers keep in RocksDB.

* ``records``: keys and values.
* ``built_queues``: queues as a start of a broker changes them.
"""
