"""Programs and fixtures around the library: ``codec``, ``pcap``, ``conformance``, and ``pytest_plugin``."""
