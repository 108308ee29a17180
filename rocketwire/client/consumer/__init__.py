"""The parts that all consumers share: pulling, rebalancing, offsets, retries, trace."""
