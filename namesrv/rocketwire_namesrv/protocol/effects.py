"""The effects of the bytes that a session has received: responses to send and things to do.

Rules of this file: values only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.serving.events import ExceededAgain, LimitExceeded

if TYPE_CHECKING:
    from rocketwire.connection.guards import Guard
    from rocketwire.errors import DecodeError
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.config.limits import Limit
    from rocketwire_namesrv.protocol.state import Notification


class Effects(NamedTuple):
    send: bytes = b""  #: responses, in the order of the requests
    events: tuple[Event, ...] = ()  #: for the log
    #: commands to send to other addresses, one attempt each, unanswered
    notify: tuple[Notification, ...] = ()
    persist_kv: bool = False  #: write the key/value file before ``send`` goes out
    persist_config: bool = False  #: write the configuration file before ``send`` goes out
    send_unsaved: bytes = b""  #: sent instead of ``send`` if that file cannot be written
    #: the reason to close the connection after ``send``; None to keep it open
    close: DecodeError | None = None
    close_connections: tuple[int, ...] = ()  #: ids of other connections to close
    commands: int = 0  #: number of commands handled, answered or not


NOTHING: Final = Effects()


class EffectsBuilder:
    __slots__ = (
        "close_connections",
        "commands",
        "events",
        "met",
        "pause",
        "persist_config",
        "persist_kv",
        "send",
        "size",
        "unsaved",
    )

    def __init__(self) -> None:
        self.send: list[bytes] = []
        self.size = 0  #: of the responses in bytes
        self.events: list[Event] = []
        self.persist_kv = self.persist_config = False
        #: index of a response in ``send`` -> the response to send instead if a file cannot be
        #: written
        self.unsaved: dict[int, bytes] = {}
        self.commands = 0
        self.pause = False  #: whether to serve other connections before the next command
        self.met: Guard | Limit | None = None  #: the limit that caused the pause, if any
        self.close_connections: tuple[int, ...] = ()  #: see ``Effects``

    def frames_if_unsaved(self) -> bytes:
        """Return the responses for the case that the changes could not be written to disk."""
        if not self.unsaved:
            return b""
        return b"".join(self.unsaved.get(index, frame) for index, frame in enumerate(self.send))

    def note_pause(self, allowed: int, *, is_logged: bool) -> None:
        """Add an event for the limit that caused the pause."""
        if self.met is not None:
            event_type = ExceededAgain if is_logged else LimitExceeded
            done = f"{self.commands} requests, {self.size} bytes of responses"
            what = f"{done}; further requests have to wait"
            self.events.append(event_type(limit=self.met, allowed=allowed, what=what))
