"""Speed and memory of ``rocketwire-store``, compared with the recovery of Java's message store."""
