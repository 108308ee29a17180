"""From settings to a ``ClientConfig``."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.client import ClientConfig, Credentials
from rocketwire.client.addresses import parse_name_servers
from rocketwire.errors import LocalProtocolError
from rocketwire_tools.admin.cli.settings import settings_of
from rocketwire_tools.admin.command import Context, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

Settings: TypeAlias = "Mapping[str, str | bool | float]"

REQUEST_TIMEOUT: Final = 5.0
"""Seconds for a call; what operators ask for takes longer than what clients do (Java: mqadmin's 5 s)."""

CONNECT_TIMEOUT: Final = 3.0
"""Least seconds for a connection; who waits longer for a call waits as long for that (Java: 3 s)."""

_TLS_FILES: Final = ("ca", "cert", "key-file", "tls-server-name")


def context_of(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Context:
    """What a command is run with.

    Raises:
        UsageError: a setting makes no sense.
    """
    settings = settings_of(arguments, environment)
    timeout = float(settings.get("request-timeout", REQUEST_TIMEOUT))
    return Context(arguments, client_config(settings), timeout)


def client_config(settings: Settings) -> ClientConfig:
    """The configuration that the settings mean; without a name server it has an empty list of them.

    Raises:
        UsageError: an address that is none, half of the credentials, or files that cannot be read.
    """
    try:
        servers = parse_name_servers(_text(settings, "namesrv-addr") or "")
    except LocalProtocolError as error:
        raise UsageError(str(error)) from error
    return ClientConfig(
        namesrv_addr=servers,
        credentials=_credentials(settings),
        tls=_tls(settings),
        tls_server_hostname=_text(settings, "tls-server-name"),
        namespace=_text(settings, "namespace") or "",
        mq_client_api_timeout=float(settings.get("request-timeout", REQUEST_TIMEOUT)),
        connect_timeout=max(float(settings.get("request-timeout", 0.0)), CONNECT_TIMEOUT),
    )


def _text(settings: Settings, name: str) -> str | None:
    value = settings.get(name)
    return value if isinstance(value, str) and value else None


def _credentials(settings: Settings) -> Credentials | None:
    access, secret = _text(settings, "access-key"), _text(settings, "secret-key")
    if access is None and secret is None:
        return None
    if access is None or secret is None:
        missing = "access-key" if access is None else "secret-key"
        raise UsageError(f"the {missing} is missing; there is only the other half")
    return Credentials(access, secret, _text(settings, "security-token"))


def _tls(settings: Settings) -> ssl.SSLContext | None:
    insecure = settings.get("insecure") is True
    implied = insecure or any(_text(settings, name) for name in _TLS_FILES)
    if not settings.get("tls", implied):
        return None
    try:
        made = _trusting(_text(settings, "ca"))
        _identify(made, settings)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"certificates: {error}") from error
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def _trusting(ca: str | None) -> ssl.SSLContext:
    """A context that believes what this file vouches for; the system's certificates where there is none."""
    return ssl.create_default_context(cafile=ca and _pem("ca", ca, "CERTIFICATE"))


def _identify(made: ssl.SSLContext, settings: Settings) -> None:
    """Have a certificate to show to servers that ask for one."""
    cert, key = _text(settings, "cert"), _text(settings, "key-file")
    if cert is None:
        if key is not None:
            raise UsageError("a key-file without a cert")
        return
    path = _pem("cert", cert, "CERTIFICATE")
    if key is None:
        key_path = _pem("cert, which no key-file goes with", cert, "PRIVATE KEY")
    else:
        key_path = _pem("key-file", key, "PRIVATE KEY")
    password = _Password(_text(settings, "key-password"))
    try:
        made.load_cert_chain(path, key_path, password)
    except ssl.SSLError as error:
        if not password.was_asked:
            raise
        wrong = "wrong" if password.text else "missing: the private key is encrypted"
        raise UsageError(f"the key-password is {wrong}") from error


class _Password:
    """Asked for an encrypted key's; without it OpenSSL would ask the terminal, or take a line of stdin.

    Attributes:
        text: what it is; empty for none.
        was_asked: whether a key is encrypted.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text or ""
        self.was_asked = False

    def __call__(self) -> str:
        self.was_asked = True
        return self.text


def _pem(name: str, file: str, kind: str) -> str:
    """The path of a file that has something of that kind.

    Raises:
        UsageError: there is no such file, it cannot be read, or has nothing of that kind.
    """
    path = os.path.expanduser(file)  # no shell has done so with what a profile says
    try:
        text = Path(path).read_text("ascii", "replace")
    except OSError as error:
        raise UsageError(f"{name}: {path}: {error.strerror}") from error
    if f"{kind}-----" not in text:
        raise UsageError(f"{name}: there is no {kind.lower()} (PEM) in {path}")
    return path
