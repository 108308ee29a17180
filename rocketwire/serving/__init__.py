"""What servers have in common: sockets, TLS, PROXY headers, guards of connections, a port for HTTP.

It may import ``rocketwire.connection`` and the rooms below it.
"""

import logging
from typing import Final

LOGGER: Final = logging.getLogger("rocketwire.serving")  # of a server that names no other one
