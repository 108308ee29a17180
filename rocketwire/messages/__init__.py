"""Typed headers and bodies: one frozen dataclass per Java class, grouped by subject.

A class has the name of its Java class. Headers are in ``remoting.protocol.header``, bodies in
``remoting.protocol.body``, unless a docstring names another class. ``rocketwire-codec schema``
prints the full names.

The functions exported here turn these values into bytes and back.  ``operations.registry`` lists
the classes of each request code.
"""

from __future__ import annotations

from rocketwire.messages._codec.fields import decode_bodies as decode_bodies
from rocketwire.messages._codec.fields import decode_body as decode_body
from rocketwire.messages._codec.fields import decode_header as decode_header
from rocketwire.messages._codec.fields import encode_bodies as encode_bodies
from rocketwire.messages._codec.fields import encode_body as encode_body
from rocketwire.messages._codec.fields import encode_header as encode_header
from rocketwire.messages._codec.fields import from_json as from_json
from rocketwire.messages._codec.fields import to_json as to_json
