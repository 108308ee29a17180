"""One HTTP connection of an operator: bytes in, bytes out; h11 knows the protocol.

Rules of this file: no I/O, no clock.  GET and HEAD only, and only the target and a few headers are
used. The size of a request's head and the number of requests are bounded; the driver bounds the
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import h11

MAX_HEAD: Final = 8 * 1024  # bytes of a request before its body
MAX_REQUESTS: Final = 100  # over one connection; after the last one it is closed
MAX_QUERY_FIELDS: Final = 8

_NEVER: Final = frozenset({"q=0", "q=0.0", "q=0.00", "q=0.000"})
"""Weights of an encoding that a client does not accept."""
_GUARDS: Final = (
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'self';"
        b" base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class Document(NamedTuple):
    status: int  # of HTTP
    content_type: str  # of the body
    body: bytes  # sent as it is
    encoding: str = ""  # how the body is compressed, as HTTP names it; empty if it is not


def plain(status: int, text: str) -> Document:
    return Document(status, "text/plain; charset=utf-8", f"{text}\n".encode())


class Exchange:
    """The HTTP exchange of a connection.

    Args:
        respond: returns the document for a path and the first value of each query field, or None.
            It must not raise.
        local_only: refuse requests to a host name other than localhost: a foreign page, open in a
            browser on this machine, could make such a name point here.
        refused: called with the host name of such a request.  It must not raise.
    """

    def __init__(
        self,
        respond: Callable[[str, Mapping[str, str]], Document | None],
        *,
        local_only: bool = False,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.closed: bool = False  # whether the connection has to be closed after the response
        self._respond = respond
        self._local_only = local_only
        self._refused = refused
        self._left = MAX_REQUESTS
        self._request: h11.Request  # the latest one
        self._bodiless = False
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)

    @property
    def accept(self) -> str:
        return _header(self._request, b"accept")

    @property
    def accepts_gzip(self) -> bool:
        offers = _header(self._request, b"accept-encoding").split(",")
        words = (offer.replace(" ", "").partition(";") for offer in offers)
        return any(name == "gzip" and weight not in _NEVER for name, _, weight in words)

    def receive(self, data: bytes) -> bytes:
        return b"".join(self.answers(data))

    def answers(self, data: bytes) -> Iterator[bytes]:
        """Do the same, but yield the response to each request.

        Read all of them before the next bytes are taken.
        """
        if self.closed:
            return
        try:
            self._http.receive_data(data)
            while not self.closed:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    break
                if response := self._handle(event):
                    yield response
        except h11.RemoteProtocolError as error:
            yield self._refuse(error.error_status_hint)

    def _handle(self, event: object) -> bytes:
        if isinstance(event, h11.Request):
            self._request = event
            self._bodiless = event.method == b"HEAD"
            if _header(event, b"content-length") and _header(event, b"transfer-encoding"):
                return self._refuse(400)  # two programs may see two requests in it
            return b"" if event.method in {b"GET", b"HEAD"} else self._refuse(405)
        if isinstance(event, h11.Data):
            return self._refuse(413)  # nothing that is asked for here has a body
        if isinstance(event, h11.EndOfMessage):
            return self._answer(self._request)
        self.closed = True  # the client has ended it
        return b""

    def _answer(self, request: h11.Request) -> bytes:
        self._left -= 1
        last = self._left == 0
        response = self._encode(self._document(request), close=last)
        if self._http.our_state is h11.MUST_CLOSE or self._http.their_state is h11.MUST_CLOSE:
            self.closed = True
        else:
            self._http.start_next_cycle()
        return response

    def _document(self, request: h11.Request) -> Document:
        if self._local_only and not is_local_name(host := _header(request, b"host")):
            self._refused(host)
            return plain(421, "this port answers to localhost and to IP addresses only")
        try:
            parts = urlsplit(request.target.decode("ascii"))
            fields = parse_qs(parts.query, max_num_fields=MAX_QUERY_FIELDS)
        except ValueError:
            return plain(400, "the target is invalid")
        document = self._respond(parts.path, {name: values[0] for name, values in fields.items()})
        return plain(404, "there is no such page") if document is None else document

    def _refuse(self, status: int) -> bytes:
        self.closed = True
        return self._encode(plain(status, "the request is not served"), close=True)

    def _encode(self, document: Document, *, close: bool) -> bytes:
        headers = [
            (b"content-type", document.content_type.encode()),
            (b"content-length", b"%d" % len(document.body)),
            *_GUARDS,
        ]
        if document.encoding:
            headers.append((b"content-encoding", document.encoding.encode()))
        if document.status == 405:
            headers.append((b"allow", b"GET, HEAD"))
        if close:
            headers.append((b"connection", b"close"))
        reason = HTTPStatus(document.status).phrase.encode()
        response = h11.Response(status_code=document.status, headers=headers, reason=reason)
        body = () if self._bodiless else (h11.Data(data=document.body),)
        events = (response, *body, h11.EndOfMessage())
        return b"".join(self._http.send(event) or b"" for event in events)


def _header(request: h11.Request, lower_name: bytes) -> str:
    values = (value.decode("latin-1") for name, value in request.headers if name == lower_name)
    return next(values, "")


def is_local_name(host: str) -> bool:
    """Return whether a Host header is an IP address or localhost; a foreign page cannot make these
    point elsewhere."""
    try:
        name = urlsplit(f"//{host}").hostname
        if name is not None and name != "localhost":
            ip_address(name)
    except ValueError:
        return False
    return True
