"""``rocketwire-store``: the disk of a broker, read without the broker."""
