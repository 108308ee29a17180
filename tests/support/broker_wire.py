"""A client of any broker over a socket, request by request, to compare one broker with another."""

import socket
import time
from collections.abc import Callable, Mapping
from typing import Self

from rocketwire.wire.command import CommandDecoder, RemotingCommand, encode
from tests.support.broker import Requests, frame

SECONDS = 60.0
"""For an answer of a broker on a busy machine."""


def encode_send(body: bytes = b"x", opaque: int = 1) -> bytes:
    fields = dict(zip("bcdefghi", ("orders", "TBW102", "4", "0", "0", "0", "0", ""), strict=True))
    return encode(RemotingCommand(code=310, opaque=opaque, ext_fields=fields, body=body))


def encode_pull(offset: int = 0, hold: int = 0, opaque: int = 1) -> bytes:
    fields = {
        "consumerGroup": "readers",
        "topic": "orders",
        "queueId": "0",
        "queueOffset": str(offset),
        "maxMsgNums": "32",
        "sysFlag": "6",
        "suspendTimeoutMillis": str(hold),
    }
    return encode(RemotingCommand(code=11, opaque=opaque, ext_fields=fields))


class WireClient(Requests):
    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), SECONDS)
        self._decoder = CommandDecoder()
        self._received: list[RemotingCommand] = []
        self._opaque = 0
        self.born_timestamp = int(time.time() * 1000)

    def ask(
        self, code: int, ext: Mapping[str, object] | None = None, body: object = None, flag: int = 0
    ) -> int:
        self._opaque += 1
        self._socket.sendall(frame(code, self._opaque, ext, body, flag))
        return self._opaque

    def answer_to(self, opaque: int, seconds: float = SECONDS) -> RemotingCommand | None:
        """Wait for the answer to a request; None if there is none after ``seconds``."""
        return self._wait(lambda command: command.is_response and command.opaque == opaque, seconds)

    def request(self, code: int, seconds: float = SECONDS) -> RemotingCommand | None:
        """Wait for a request of the broker; None if there is none after ``seconds``."""
        return self._wait(lambda command: not command.is_response and command.code == code, seconds)

    def respond(self, request: RemotingCommand, code: int = 0, body: bytes | None = None) -> None:
        self._socket.sendall(
            encode(RemotingCommand(code=code, opaque=request.opaque, flag=1, body=body))
        )

    def _wait(
        self, matches: Callable[[RemotingCommand], bool], seconds: float
    ) -> RemotingCommand | None:
        deadline = time.monotonic() + seconds
        while True:
            for index, command in enumerate(self._received):
                if matches(command):
                    return self._received.pop(index)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return None
            self._socket.settimeout(remaining)
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                return None
            assert data, "the broker closed the connection"
            self._decoder.feed(data)
            while (command_ := self._decoder.next_command()) is not None:
                self._received.append(command_)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
