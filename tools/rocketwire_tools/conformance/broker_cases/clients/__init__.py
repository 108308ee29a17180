"""Cases of clients: groups, locks, offsets, replies, relays."""
