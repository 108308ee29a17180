"""A second generator of captures, with the exact truth about each frame.

It shares no code with ``tests.support.captures`` or rocketwire: it encodes headers as other
clients' libraries do, and writes TCP by its RFC and files by the pcap documents. So it reveals
errors that the decoder and the first generator share.
"""
