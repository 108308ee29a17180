"""The sink of ``format("rocketmq")``: rows of a frame become messages of topics.

``writing`` has the classes that Spark calls, and only it imports PySpark. ``rows``, ``columns``,
``unique_keys`` and ``outbox`` are pure; ``sending`` and ``ending`` run under trio.
"""
