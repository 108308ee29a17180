"""The body of a broker's registration (request 103), from bytes to the values that the tables take.

Pure.  It may import ``routes`` and the library.
"""
