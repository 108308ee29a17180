"""How drivers and workers reach a cluster: name servers, credentials and TLS; and what users read
if they do not.

Rules of this file: a connection is a plain value without secrets.  Each process reads keys and
certificates itself, from its environment or from files, so that no plan, event log or checkpoint
shows them.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError, ChannelError
from rocketwire_tools.spark.option_values import OptionError, read_text, switch

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from rocketwire.client import ClientConfig, ClientInstance, Credentials

T = TypeVar("T")

_SECRETS: Final = ("accessKey", "secretKey", "securityToken", "keyPassword")


def _seconds(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise OptionError(f"option {option!r}: {text!r} is not a number of seconds up to 3600")
    return value


OPTIONS: Final[Mapping[str, tuple[str, Callable[[str, str], Any]]]] = {
    "nameServers": ("name_servers", read_text),
    "addressMap": ("address_map", read_text),
    "credentialsFile": ("credentials_file", read_text),
    "tls": ("tls", switch),
    "caFile": ("ca_file", read_text),
    "certFile": ("cert_file", read_text),
    "keyFile": ("key_file", read_text),
    "keyPasswordFile": ("key_password_file", read_text),
    "tlsServerName": ("tls_server_name", read_text),
    "namespace": ("namespace", read_text),
    "requestTimeout": ("request_timeout", _seconds),
}
"""Option → field of ``Connection``, and the function that reads its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The options about a cluster; can be sent to workers."""

    name_servers: str  # as ``host:port;host:port``
    address_map: str = ""  # ``ClientConfig.address_remap``, as ``from=to;from=to``
    # file with lines ``accessKey=...`` and ``secretKey=...``; empty for the environment variables
    # ``ROCKETWIRE_ACCESS_KEY`` and ``ROCKETWIRE_SECRET_KEY``
    credentials_file: str = ""
    tls: bool | None = None  # whether connections use TLS; None to use it if a file of TLS is set
    ca_file: str = ""  # certificates of the authorities (PEM); empty for those of the system
    cert_file: str = ""  # certificate of the client (PEM), for servers that require one
    key_file: str = ""  # private key of the client; empty if ``cert_file`` contains it
    key_password_file: str = ""  # file whose first line is the password of the private key
    # host name in every certificate; empty for the host of the connection
    tls_server_name: str = ""
    namespace: str = ""  # namespace of the first kind, a part of topic and group names
    request_timeout: float = 5.0  # seconds for a response

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> Connection:
        from rocketwire.client.addresses import namespace_of_endpoint

        by_name = {name.lower(): (name, entry) for name, entry in OPTIONS.items()}
        secrets = {name.lower(): name for name in _SECRETS}
        values: dict[str, Any] = {
            "name_servers": os.environ.get("NAMESRV_ADDR", ""),
            "address_map": os.environ.get("ROCKETWIRE_ADDRESS_MAP", ""),
        }
        for option, text in options.items():
            if option.lower() in secrets:
                raise OptionError(
                    f"option {secrets[option.lower()]!r} would show a secret in plans and event"
                    " logs: use 'credentialsFile' or 'keyPasswordFile', or the environment"
                    " variables ROCKETWIRE_ACCESS_KEY and ROCKETWIRE_SECRET_KEY"
                )
            if option.lower() in by_name:
                name, (field, read) = by_name[option.lower()]
                values[field] = read(name, text)
        values.setdefault("namespace", namespace_of_endpoint(values["name_servers"]))
        connection = cls(**values)
        connection.check()
        return connection

    def check(self) -> None:
        from rocketwire.client.addresses import build_remap, parse_name_servers
        from rocketwire.errors import LocalProtocolError

        try:
            addresses = parse_name_servers(self.name_servers)
        except LocalProtocolError as error:
            raise OptionError(f"option 'nameServers': {error}") from None
        try:
            build_remap("option 'addressMap'", self.address_map)
        except LocalProtocolError as error:
            raise OptionError(str(error)) from None
        if not addresses:
            raise OptionError("no name server: set option 'nameServers', as 'host:port;host:port'")
        for option, path in (
            ("keyFile", self.key_file),
            ("keyPasswordFile", self.key_password_file),
        ):
            if path and not self.cert_file:
                raise OptionError(f"option {option!r} needs option 'certFile'")

    def name_at_broker(self, name: str) -> str:
        from rocketwire.policy.resource_names import LMQ_PREFIX, with_namespace

        return name if name.startswith(LMQ_PREFIX) else with_namespace(self.namespace, name)

    def strip_namespace(self, name: str) -> str:
        from rocketwire.policy.resource_names import without_namespace

        return without_namespace(name, self.namespace)

    def client_config(self) -> ClientConfig:
        from rocketwire.client import ClientConfig

        return ClientConfig(
            namesrv_addr=self.name_servers,
            address_remap=self.address_map,
            credentials=self._credentials(),
            tls=self._tls(),
            tls_server_hostname=self.tls_server_name or None,
            namespace=self.namespace,
            mq_client_api_timeout=self.request_timeout,
            connect_timeout=max(self.request_timeout, 3.0),
        )

    def _credentials(self) -> Credentials | None:
        from rocketwire.client import Credentials
        from rocketwire.client.environment import read_credentials

        if not self.credentials_file:
            keys = read_credentials(os.environ)
            if keys is not None and not keys["secret_key"]:
                raise OptionError("ROCKETWIRE_SECRET_KEY is not set, and ROCKETWIRE_ACCESS_KEY is")
            return None if keys is None else Credentials(**keys)
        values = dict(
            _pair(line) for line in _lines("credentialsFile", self.credentials_file) if line
        )
        access, secret = values.get("accessKey", ""), values.get("secretKey", "")
        if not access or not secret:
            missing = "secretKey" if access else "accessKey"
            raise OptionError(
                f"option 'credentialsFile': {self.credentials_file} has no line '{missing}=...'"
            )
        return Credentials(access, secret, values.get("securityToken"))

    def _tls(self) -> ssl.SSLContext | None:
        files = (self.ca_file, self.cert_file, self.key_file, self.tls_server_name)
        if not (any(files) if self.tls is None else self.tls):
            return None
        import ssl

        password = ""
        if self.key_password_file:
            password = _lines("keyPasswordFile", self.key_password_file)[0]
        try:
            context = ssl.create_default_context(cafile=local_file(self.ca_file) or None)
            if self.cert_file:
                context.load_cert_chain(
                    local_file(self.cert_file),
                    local_file(self.key_file) or None,
                    lambda: password,  # without a function OpenSSL asks on the terminal
                )
        except (ssl.SSLError, OSError) as error:
            listed_files = ", ".join(file for file in files[:3] if file)
            advice = "see the files, and option keyPasswordFile"
            raise OptionError(f"certificates {listed_files}: {error}; {advice}") from None
        return context


def local_file(path: str) -> str:
    """Return the path of a file here: as it is, or among those of ``spark-submit --files``."""
    if not path or os.path.exists(path) or os.path.isabs(path):
        return path
    from pyspark import SparkFiles

    try:
        shipped = SparkFiles.get(path)
    except Exception:  # noqa: BLE001 - a driver without a session has no such files
        return path
    return shipped if os.path.exists(shipped) else path


def _lines(option: str, path: str) -> list[str]:
    try:
        text = Path(local_file(path)).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise OptionError(f"option {option!r}: {path}: {reason}") from None
    lines = [line.strip() for line in text.splitlines() if not line.startswith("#")]
    return lines or [""]


def _pair(line: str) -> tuple[str, str]:
    """Name and value of ``name=value``, or of ``name: value`` as in Java's ``tools.yml``."""
    name, separator, value = line.partition("=")
    if not separator or ":" in name:
        name, _, value = line.partition(":")
    return name.strip(), value.strip().strip("'\"")


class Session:
    """A client in trio's thread, for calls from the thread in which Spark runs Python.

    Worker processes are used again: they keep one session for each connection.
    """

    def __init__(self, connection: Connection) -> None:
        from rocketwire.portal.portal import Resource

        config = connection.client_config()

        def opener() -> AbstractAsyncContextManager[ClientInstance]:
            from rocketwire.client import open_client

            return open_client(config)

        self.resource = Resource(opener)
        self.portal = self.resource.begin()
        self.client: ClientInstance = self.portal.call(self.resource.open)

    @property
    def is_open(self) -> bool:
        return not (self.resource.is_closed or self.portal.is_forked or self.portal.is_ended)

    def call(self, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        return self.portal.call(function, self.client, *arguments)

    def close(self) -> None:
        self.resource.close_soon()
        self.resource.wait_closed(_CLOSING)


_CLOSING: Final = 5.0
_sessions: dict[Connection, Session] = {}


def session_of(connection: Connection) -> Session:
    session = _sessions.get(connection)
    if session is None or not session.is_open:
        session = _sessions[connection] = Session(connection)
    return session


def close_sessions() -> None:
    while _sessions:
        _sessions.popitem()[1].close()


# ---------------------------------------------------------------------- what users read of errors

OF_TLS: Final = (
    "see options caFile, certFile, keyFile and tlsServerName, and what the servers require"
)
_OF_ACCESS: Final = ("AclException", "AuthenticationException", "Authorization")
"""Words in remarks of brokers; brokers of 4.x refuse access with code 1."""


def is_about_access(error: Exception) -> bool:
    if not isinstance(error, BrokerError):
        return False
    remark = error.remark or ""
    return error.code == ResponseCode.NO_PERMISSION or any(text in remark for text in _OF_ACCESS)


def is_about_tls(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, ChannelError) and ("TLS handshake" in text or "[SSL" in text)


def describe(error: Exception, name_servers: str) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    advice = f"see whether name servers {name_servers} and their brokers run and can be reached"
    if is_about_tls(error):
        advice = OF_TLS
    elif is_about_access(error):
        advice = (
            "see the credentials, and let the account subscribe to the topic and the group (Sub),"
            " and get the topic (Get) for timestamps and compacted topics"
        )
    return f"{text}; {advice}"


def pull_advice(error: BrokerError) -> str:
    if is_about_access(error):
        return (
            "see the credentials, let the account subscribe to the topic and the group (Sub), and"
            " see the permission of the topic"
        )
    return _OF_PULLS.get(int(error.code), "see the log of the broker")


_OF_PULLS: Final = {
    int(ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST): "create the group, or set option 'group'",
    int(ResponseCode.SYSTEM_ERROR): (
        "with option 'sql' the broker needs enablePropertyFilter=true"
    ),
}


@asynccontextmanager
async def open_connection(connection: Connection) -> AsyncGenerator[ClientInstance]:
    """Open a client until the end of the block; in trio, for example inside ``trio.run``."""
    from rocketwire.client import open_client

    async with open_client(connection.client_config()) as client:
        yield client
