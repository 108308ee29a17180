"""Captures made up with exact truth: traffic of RocketMQ peers, what a network does to it, and the files it ends up in."""
