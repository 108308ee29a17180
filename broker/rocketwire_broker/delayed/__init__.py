"""Messages that wait: delays, times of delivery, transactions, and redeliveries of pops."""
