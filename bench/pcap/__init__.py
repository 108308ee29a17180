"""The decoder of captures beside tshark: ``python -m bench.pcap``."""
