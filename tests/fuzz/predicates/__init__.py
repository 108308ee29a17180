"""When an explanation of ``tests.fuzz.explained`` holds: one predicate for each, as narrow as it can be.

Rules of this folder: a predicate looks at one difference of one trial, says nothing of others, and needs a sign of its own reason
in the bytes or in what Java said.
"""
