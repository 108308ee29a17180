"""The effects of the bytes that a session has received: responses to send and things to do.

Rules of this file: values only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire.serving.limits import ExceededAgain, LimitExceeded

if TYPE_CHECKING:
    from rocketwire.connection.guards import Guard
    from rocketwire.errors import DecodeError
    from rocketwire.serving.events import Event
    from rocketwire_namesrv.config.limits import Limit
    from rocketwire_namesrv.protocol.state import Notification


class Effects(NamedTuple):
    """The effects of bytes received.

    Attributes:
        send: responses, in the order of the requests.
        events: for the log.
        notify: commands to send to other addresses, one attempt each, unanswered.
        persist_kv: write the key/value file before ``send`` goes out.
        persist_config: write the configuration file before ``send`` goes out.
        send_unsaved: sent instead of ``send`` if that file cannot be written.
        close: the reason to close the connection after ``send``; None to keep it open.
        close_connections: ids of other connections to close.
        commands: number of commands handled, answered or not.
    """

    send: bytes = b""
    events: tuple[Event, ...] = ()
    notify: tuple[Notification, ...] = ()
    persist_kv: bool = False
    persist_config: bool = False
    send_unsaved: bytes = b""
    close: DecodeError | None = None
    close_connections: tuple[int, ...] = ()
    commands: int = 0


NOTHING: Final = Effects()


class EffectsBuilder:
    """Collects the effects of bytes received.

    Attributes:
        size: of the responses in bytes.
        persist_kv: see ``Effects``.
        persist_config: see ``Effects``.
        unsaved: index of a response in ``send`` -> the response to send instead if a file cannot be
            written.
        pause: whether to serve other connections before the next command.
        met: the limit that caused the pause, if any.
        close_connections: see ``Effects``.
    """

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
        self.size = 0
        self.events: list[Event] = []
        self.persist_kv = self.persist_config = False
        self.unsaved: dict[int, bytes] = {}
        self.commands = 0
        self.pause = False
        self.met: Guard | Limit | None = None
        self.close_connections: tuple[int, ...] = ()

    def frames_if_unsaved(self) -> bytes:
        """Return the responses for the case that the changes could not be written to disk."""
        if not self.unsaved:
            return b""
        return b"".join(self.unsaved.get(index, frame) for index, frame in enumerate(self.send))

    def note_pause(self, allowed: int, *, is_logged: bool) -> None:
        """Add an event for the limit that caused the pause.

        Args:
            allowed: its value.
            is_logged: whether the log already has a line about this connection.
        """
        if self.met is not None:
            event_type = ExceededAgain if is_logged else LimitExceeded
            done = f"{self.commands} requests, {self.size} bytes of responses"
            what = f"{done}; further requests have to wait"
            self.events.append(event_type(limit=self.met, allowed=allowed, what=what))
