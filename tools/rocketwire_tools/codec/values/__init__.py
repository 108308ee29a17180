"""Frames, bodies and stored messages as plain JSON values, and back.

It may import ``rocketwire_tools.codec.jsonl``, ``rocketwire_tools.codec.jsonl`` and the library.
"""
