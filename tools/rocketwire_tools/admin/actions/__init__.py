"""Work of commands that take more than one call: producing, consuming, snapshots, diagnosis.

Its modules import only ``cli``, ``command`` and the library.
"""
