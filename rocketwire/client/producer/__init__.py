"""The producer: single messages, batches, transactions, requests with replies, traces."""
