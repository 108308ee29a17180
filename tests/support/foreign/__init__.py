"""A second generator of captures, with the exact truth about each frame.

It shares no code with ``tests.support.captures`` and none with rocketwire: headers are encoded as
other clients' libraries encode them, TCP is written from its RFC, files from the pcap documents.
What the decoder and the first generator both get wrong shows here.
"""
