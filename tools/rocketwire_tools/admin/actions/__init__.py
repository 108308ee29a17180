"""The work behind commands that do more than one call: producing, consuming, snapshots, diagnosis.

It may import ``cli`` and the library.
"""
