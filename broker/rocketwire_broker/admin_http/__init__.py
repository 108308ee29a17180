"""Documents for operators: status pages, a browser of messages, metrics."""
