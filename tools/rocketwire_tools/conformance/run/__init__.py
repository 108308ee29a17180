"""The execution of cases against a target: connections, requests, matching, verdicts.

It may import ``model``.
"""
