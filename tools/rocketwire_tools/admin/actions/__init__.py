"""Work that several commands share, or rules without I/O: output, snapshots, diagnosis.

Its modules import only ``cli``, ``command`` and the library.
"""
