"""Predicates of the explanations in ``tests.fuzz.explained``, as narrow as possible.

Rules of this folder: a predicate judges one difference of one trial, independently of others. It needs a sign of its own reason
in the bytes or in Java's result.
"""
