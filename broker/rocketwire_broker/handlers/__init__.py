"""The answers to requests, one module per subject; to import this package fills ``REQUESTS``.

A handler is a function ``(broker, request, peer, now) -> Response | None``; None means that it
answers later. ``requests.handles`` declares its codes. A request that cannot be read raises
``DecodeError`` (code 1), another refusal ``RefusedError``.
"""

from rocketwire_broker.handlers import (
    assignments,
    members,
    offsets,
    pulls,
    queries,
    sends,
    transactions,
)
from rocketwire_broker.handlers.admin import figures, groups, relays, topics
from rocketwire_broker.handlers.lite import figures as lite_figures
from rocketwire_broker.handlers.lite import readers
from rocketwire_broker.handlers.pops import acknowledgements, pop

SUBJECTS = (
    *(sends, transactions, pulls, queries, offsets, members, assignments, pop, acknowledgements),
    *(readers, lite_figures, topics, groups, figures, relays),
)
"""The modules of handlers."""
