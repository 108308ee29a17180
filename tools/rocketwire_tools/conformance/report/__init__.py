"""Reports of a run: for the terminal, as JSON, JUnit XML, HTML and Markdown.

It may import ``run`` and ``model``.
"""
