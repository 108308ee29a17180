"""The comparison with other projects: ``projects.toml``, written as ``docs/comparison.md``."""
