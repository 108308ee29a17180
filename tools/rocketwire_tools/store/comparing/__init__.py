"""Two stores, compared by content: logs, queues, index, configuration and further files."""
