"""The fast path of a request over an idle connection: the task that sends also reads the response.

``attach`` is its only entrance; everything works without it.
"""
