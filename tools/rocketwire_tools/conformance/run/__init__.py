"""Execution of cases against a target: connections, requests, matching, verdicts.

It imports only ``model`` and the library.
"""
