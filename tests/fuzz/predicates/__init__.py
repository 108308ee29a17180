"""When an explanation of ``tests.fuzz.explained`` holds: one predicate for each, as narrow as it can be.

Rules of this folder: a predicate judges one difference of one trial, independently of others, and needs a sign of its own reason
in the bytes or in Java's result.
"""
