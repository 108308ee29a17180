"""The documentation site: pages of ``docs/``, help texts and docstrings, as HTML by Sphinx."""
