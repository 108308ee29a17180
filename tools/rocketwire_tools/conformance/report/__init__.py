"""Reports of a run: for the terminal, as JSON, JUnit XML, HTML and Markdown.

It imports only ``run``, ``model`` and the library.
"""
