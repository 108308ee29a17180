"""The answers to operators: topics, groups, progress, figures, and relays to clients."""
