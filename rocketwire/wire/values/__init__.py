"""Frozen classes whose definition and construction cost little.

It may import nothing of the package.
"""
