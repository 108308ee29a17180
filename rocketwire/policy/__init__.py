"""Decisions of a client: queue selection, retries, allocation, what may be committed.

No module here reads a clock or draws random numbers: ``now`` (seconds of any monotonic clock) and
random numbers are arguments.  The decisions are Java's; ``tests/fixtures/vectors/policy`` has
vectors that were made with Java's classes.
"""
