"""What a client decides: which queue, whether again, whose turn, what may be committed.

Pure: no I/O, no clock, no chance.  Time comes in as ``now`` (seconds of any monotonic clock), chance as a number.
Java's decisions are the measure; vectors made with its own classes are in ``tests/fixtures/vectors/policy``.
"""
