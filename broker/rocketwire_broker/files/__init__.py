"""The folder of a broker's store, in Java's formats: files, and how a broker goes on with them.

It may import ``later``, ``state``, ``storage``, ``tables`` and ``config``.
"""
