"""The generator of captures, with the exact truth about each frame.

It shares no code with rocketwire: it encodes headers as other clients' libraries do, and writes
TCP by its RFC and files by the pcap documents. So it reveals errors of the decoder.
"""
