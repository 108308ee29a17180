"""Builds a ``ClientConfig`` from settings."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from rocketwire.client import ClientConfig, Credentials
from rocketwire.client.addresses import build_remap, namespace_of_endpoint, parse_name_servers
from rocketwire.errors import LocalProtocolError
from rocketwire_tools.cli.command import Context, UsageError
from rocketwire_tools.cli.settings import settings_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

Settings: TypeAlias = "Mapping[str, str | bool | float]"

REQUEST_TIMEOUT: Final = 5.0
"""Timeout of a call in seconds.

Requests of operators take longer than others (Java's mqadmin: 5 s).
"""

CONNECT_TIMEOUT: Final = 3.0
"""Minimum connect timeout in seconds; a longer request timeout also applies here (Java: 3 s)."""

_TLS_FILES: Final = ("ca", "cert", "key-file", "tls-server-name")


def context_of(arguments: argparse.Namespace, environment: Mapping[str, str]) -> Context:
    """Build the context of a command; raises ``UsageError`` if a setting is invalid."""
    settings = settings_of(arguments, environment)
    timeout = float(settings.get("request-timeout", REQUEST_TIMEOUT))
    return Context(arguments, client_config(settings), timeout)


def client_config(settings: Settings) -> ClientConfig:
    """Build a client configuration; its list of name servers may be empty.

    Raises ``UsageError`` for an invalid address, incomplete credentials, or an unreadable file.
    """
    address_map = _text(settings, "address-map") or ""
    try:
        servers = parse_name_servers(_text(settings, "namesrv-addr") or "")
        build_remap("address-map", address_map)
    except LocalProtocolError as error:
        raise UsageError(str(error)) from error
    return ClientConfig(
        namesrv_addr=servers,
        address_remap=address_map,
        credentials=_credentials(settings),
        tls=_tls(settings),
        tls_server_hostname=_text(settings, "tls-server-name"),
        namespace=_text(settings, "namespace") or namespace_of_endpoint(servers),
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
        raise UsageError(f"the {missing} is missing: credentials need both keys")
    return Credentials(access, secret, _text(settings, "security-token"))


def _tls(settings: Settings) -> ssl.SSLContext | None:
    insecure = settings.get("insecure") is True
    implied = insecure or any(_text(settings, name) for name in _TLS_FILES)
    if not settings.get("tls", implied):
        return None
    try:
        ca = _text(settings, "ca")  # None for the certificates of the system
        tls_context = ssl.create_default_context(cafile=ca and _pem("ca", ca, "CERTIFICATE"))
        _identify(tls_context, settings)
    except (ssl.SSLError, OSError) as error:
        raise UsageError(f"certificates: {error}") from error
    if insecure:
        tls_context.check_hostname = False
        tls_context.verify_mode = ssl.CERT_NONE
    return tls_context


def _identify(tls_context: ssl.SSLContext, settings: Settings) -> None:
    cert, key = _text(settings, "cert"), _text(settings, "key-file")
    if cert is None:
        if key is not None:
            raise UsageError("key-file is set without cert")
        return
    path = _pem("cert", cert, "CERTIFICATE")
    if key is None:
        key_path = _pem("cert (no key-file is set)", cert, "PRIVATE KEY")
    else:
        key_path = _pem("key-file", key, "PRIVATE KEY")
    password = _Password(_text(settings, "key-password"))
    try:
        tls_context.load_cert_chain(path, key_path, password)
    except ssl.SSLError as error:
        if not password.was_asked:
            raise
        wrong = "wrong" if password.text else "missing: the private key is encrypted"
        raise UsageError(f"the key-password is {wrong}") from error


class _Password:
    """Callback for the password of an encrypted key.

    Without a callback OpenSSL would prompt on the terminal or read a line of stdin.
    """

    def __init__(self, text: str | None) -> None:
        self.text = text or ""  # the password; empty for none
        self.was_asked = False  # whether OpenSSL asked for it, because the key is encrypted

    def __call__(self) -> str:
        self.was_asked = True
        return self.text


def _pem(name: str, file: str, label: str) -> str:
    path = os.path.expanduser(file)  # no shell expands the paths of a profile
    try:
        text = Path(path).read_text("ascii", "replace")
    except OSError as error:
        raise UsageError(f"{name}: {path}: {error.strerror}") from error
    if f"{label}-----" not in text:
        raise UsageError(f"{name}: no {label.lower()} (PEM) in {path}")
    return path
