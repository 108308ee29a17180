"""``Session``: the requests of one connection, in the order of their arrival.

Frames to a client have the form of header that its latest request had. Java's broker always uses
its own form, and every client reads both.

A request takes effect before the next one of its connection is read. Answers that come later are
matched by their number, so a waiting request does not block others.

Java: ``NettyRemotingAbstract.processRequestCommand``.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.connection.guards import Guard
from rocketwire.errors import RocketWireError
from rocketwire.flags import CommandFlag
from rocketwire.wire.command import CommandDecoder
from rocketwire_broker.handlers.requests import REQUESTS, needs_of
from rocketwire_broker.state.response import RefusedError, Response
from rocketwire_broker.storage.store import UnwritableError

if TYPE_CHECKING:
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_broker.state.broker import Broker
    from rocketwire_broker.state.faults import Fault
    from rocketwire_broker.tables.members import Peer

LOGGER: Final = logging.getLogger("rocketwire.broker")

UNWRITABLE: Final = (
    "service not available now. It may be caused by one of the following reasons: "
    "the broker's disk is full [{}], messages are put to the slave, message store has been shut "
    "down, etc."
)
"""Java: ``SendMessageProcessor.handlePutMessageResult``."""

_RESPONSE: Final = int(CommandFlag.RESPONSE)
_ONEWAY: Final = int(CommandFlag.ONEWAY)
_UNLIMITED: Final = 1 << 62


class Session:
    def __init__(self, broker: Broker, peer: Peer) -> None:
        self.last_code = 0
        self._broker = broker
        self._peer = peer
        self._decoder = CommandDecoder()
        self.has_handled = False  # whether the last call of ``receive`` has handled a command
        # whether too many bytes wait for the peer, or its requests have taken a turn; the driver
        # calls ``receive`` without bytes later, and before it passes further ones
        self.is_paused = False

    @property
    def frame_started(self) -> bool:
        """Whether an incomplete frame has been received, or further ones while it is paused."""
        return self._decoder.frame_started

    def receive(self, data: bytes, now: int) -> None:
        """Handle received bytes; responses are in the broker's outbox, and ``settle`` adds to them.

        Args:
            data: bytes as received; none if it is paused.

        Raises:
            DecodeError: not the protocol; the connection has to be closed.
        """
        decoder, peer = self._decoder, self._peer
        limit = self._broker.config.max_unsent_bytes or _UNLIMITED
        if self.is_paused and peer.unsent >= limit:
            self.has_handled = False
            return
        self._broker.work = 0
        command = decoder.decode_only_command(data)
        if command is None:
            decoder.feed(data)
            command = decoder.next_command()
        self.has_handled, self.is_paused = command is not None, False
        while command is not None:
            if command.flag & _RESPONSE:
                self._broker.take_response(peer, command, now)
            else:
                self._handle(command, now)
            is_full = peer.unsent >= limit
            if (is_full or self._broker.work >= 1) and decoder.frame_started:
                self.is_paused = True
                if is_full:
                    self._broker.statistics.limit_hits[Guard.UNSENT_BYTES] += 1
                break
            command = decoder.next_command()
        if decoder.frame_started or peer.buffered:
            peer.buffered = decoder.buffered
            self._broker.note_buffered(peer)

    def _handle(self, request: RemotingCommand, now: int) -> None:
        self.last_code = request.code
        if self._broker.faults:
            fault = self._broker.faults.take(request.code)
            if fault is not None:
                self._handle_with_fault(request, fault, now)
                return
        response = self._respond(request, now)
        if response is not None and not request.flag & _ONEWAY:
            self._broker.answer(self._peer, request.opaque, response)

    def _handle_with_fault(self, request: RemotingCommand, fault: Fault, now: int) -> None:
        broker, peer = self._broker, self._peer
        if fault.is_cut:
            broker.closing[peer.number] = "a test asks for it"
            return
        if fault.script is not None:
            response = fault.script(request)
        else:
            response = fault.refusal or self._respond(request, now)
        if response is None or fault.is_lost or request.flag & _ONEWAY:
            return
        answer = response
        broker.schedule.at(
            now + fault.delay_ms, lambda now: broker.answer(peer, request.opaque, answer)
        )

    def _respond(self, request: RemotingCommand, now: int) -> Response | None:
        access = self._broker.access
        if access is not None:
            needs = needs_of(request, self._broker.config.cluster_name)
            refusal = access.refusal(request, self._peer.host.ip, needs)
            if refusal is not None:
                return Response(ResponseCode.NO_PERMISSION, refusal)
        known = REQUESTS.get(request.code)
        if known is None:
            remark = f" request type {request.code} not supported"
            return Response(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
        try:
            return known.handle(self._broker, request, self._peer, now)
        except RefusedError as refused:
            return refused.response
        except UnwritableError as error:
            return Response(ResponseCode.SERVICE_NOT_AVAILABLE, UNWRITABLE.format(error))
        except RocketWireError as error:
            return Response(ResponseCode.SYSTEM_ERROR, str(error))
        except Exception as error:  # one request must not end the connection of others
            LOGGER.exception("request %d of %s failed", request.code, self._peer.address)
            return Response(ResponseCode.SYSTEM_ERROR, f"{type(error).__name__}: {error}")
