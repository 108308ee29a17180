"""Compares the decoder of captures with tshark: ``python -m bench.pcap``."""
