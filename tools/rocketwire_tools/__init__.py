"""Programs around the library: ``codec``, the protocol on the command line."""
