"""What comes of bytes that a session has received: answers to send and things to do.

Rules of this file: values only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rocketwire_namesrv.config.limits import ExceededAgain, Limit, LimitExceeded

if TYPE_CHECKING:
    from rocketwire.errors import DecodeError
    from rocketwire_namesrv.events import Event
    from rocketwire_namesrv.protocol.state import Notification

__all__ = ["NOTHING", "Effects", "EffectsBuilder"]


class Effects(NamedTuple):
    """What came of the bytes received.

    Attributes:
        send: answers, in the order of the requests.
        occurrences: what happened, for the log.
        notify: commands to send to other addresses, one attempt each, unanswered.
        persist_kv: the key/value file has to be written before ``send`` goes out.
        persist_config: likewise the configuration file.
        send_unsaved: takes the place of ``send`` where that file could not be written.
        close: why the connection has to be closed after ``send``; None to go on.
        close_connections: ids of other connections to close.
        commands: how many have been handled, answered or not.
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
    """What has come of some bytes so far.

    Attributes:
        send: answers.
        size: bytes of them.
        happened: for the log.
        persist_kv: see ``Effects``.
        persist_config: see ``Effects``.
        unsaved: by the place of an answer in ``send``, what is sent if a file cannot be written.
        commands: how many have been handled.
        pause: whether others have their turn before more is handled.
        met: the limit for which that is so, if it is one.
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
        self.met: Limit | None = None
        self.close_connections: tuple[int, ...] = ()

    def sent_unsaved(self) -> bytes:
        """The answers in the case that what they acknowledge is not on disk."""
        if not self.unsaved:
            return b""
        return b"".join(self.unsaved.get(at, frame) for at, frame in enumerate(self.send))

    def note_pause(self, allowed: int, *, again: bool) -> None:
        """Tells of the limit for which more has to wait.

        Args:
            allowed: its value.
            again: whether the log has had a line of it on this connection.
        """
        if self.met is not None:
            kind = ExceededAgain if again else LimitExceeded
            what = f"{self.commands} requests, {self.size} bytes of answers; more have to wait"
            self.events.append(kind(limit=self.met, allowed=allowed, what=what))
