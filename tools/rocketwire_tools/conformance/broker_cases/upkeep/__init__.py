"""Cases of administration and of the protocol itself."""
