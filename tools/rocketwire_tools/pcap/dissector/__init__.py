"""The dissector for Wireshark, generated from the tables of the codec.

It may import the library only.
"""
