"""Programs and test fixtures: ``admin``, ``codec``, ``conformance``, ``pcap``, ``spark``."""
