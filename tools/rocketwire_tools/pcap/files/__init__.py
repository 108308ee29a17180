"""Capture files: opening and decompressing them, and finding the records of pcap and pcapng.

It imports no other room.
"""
