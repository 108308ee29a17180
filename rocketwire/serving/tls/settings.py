"""The ``tls.*`` settings: Java's keys, their sources, and the meaning of their texts.

Rules of this file: pure; later sources win: system properties, the configuration file (``-c``),
the file that ``tls.config.file`` names.  The mode and the name of that file are system properties
only, as in Java.  ``remarks`` has the invalid texts that Java ignores.

Java: ``TlsSystemConfig``, ``TlsHelper``, ``TlsMode``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Self

CONFIG_FILE: Final = "/etc/rocketmq/tls.properties"

_MODE: Final = "tls.server.mode"
_FILE: Final = "tls.config.file"
_TEXTS: Final = {
    "tls.server.certPath": "cert_path",
    "tls.server.keyPath": "key_path",
    "tls.server.keyPassword": "key_password",
    "tls.server.trustCertPath": "trust_cert_path",
    "tls.server.need.client.auth": "need_client_auth",
    "tls.client.certPath": "client_cert_path",
    "tls.client.keyPath": "client_key_path",
    "tls.client.keyPassword": "client_key_password",
    "tls.client.trustCertPath": "client_trust_cert_path",
    "tls.protocols": "protocols",
    "tls.ciphers": "ciphers",
}
SWITCHES: Final = {
    "tls.test.mode.enable": "test_mode",
    "tls.server.authClient": "auth_client",
    "tls.client.authServer": "auth_server",
}
KEYS: Final = frozenset({_MODE, _FILE, "tls.enable", *_TEXTS, *SWITCHES})
"""All of these settings, some of which count as system properties only."""


class TlsMode(Enum):
    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


class ClientAuth(Enum):
    NONE = "none"
    OPTIONAL = "optional"
    REQUIRE = "require"


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """Every ``tls.*`` setting as written; empty if it is not set."""

    server_mode: str = "permissive"  # see ``mode``
    config_file: str = ""  # an optional properties file with more of these
    # use a self-signed certificate and verify no peer; all other settings except ``server_mode``
    # are ignored then
    test_mode: bool = True
    cert_path: str = ""  # PEM chain of the server
    key_path: str = ""  # PEM private key of the server
    key_password: str = field(default="", repr=False)  # password of that file
    auth_client: bool = False  # whether certificates of clients are verified
    # PEM file of the authorities of clients' certificates; those of the system if it is empty
    trust_cert_path: str = ""
    need_client_auth: str = ""  # see ``client_auth``
    # whether the certificates of brokers that are notified (905) are verified
    auth_server: bool = False
    # PEM chain shown to them; ``client_key_path`` and ``client_key_password`` go with it
    client_cert_path: str = ""
    client_key_path: str = ""
    client_key_password: str = field(default="", repr=False)
    client_trust_cert_path: str = ""  # as ``trust_cert_path``
    protocols: str = ""  # ``TLSv1.2``, ``TLSv1.3`` or both, comma-separated
    # comma-separated names of cipher suites (``ciphers``); empty for OpenSSL's default
    ciphers: str = ""
    misplaced: tuple[str, ...] = ()  # keys in a place where they are ignored

    @classmethod
    def load(cls, system: Mapping[str, str], entries: Mapping[str, str] | None = None) -> Self:
        """Take them from system properties and over these from the configuration file."""
        first = cls(
            server_mode=system.get(_MODE, "permissive"), config_file=system.get(_FILE, CONFIG_FILE)
        )
        return first._with(system).over(entries or {})

    def over(self, entries: Mapping[str, str]) -> Self:
        misplaced = tuple(key for key in (_MODE, _FILE) if key in entries)
        return replace(self._with(entries), misplaced=self.misplaced + misplaced)

    def _with(self, entries: Mapping[str, str]) -> Self:
        changes: dict[str, Any] = {
            name: entries[key] for key, name in _TEXTS.items() if key in entries
        }
        changes |= {
            name: entries[key].lower() == "true" for key, name in SWITCHES.items() if key in entries
        }
        return replace(self, **changes)

    @property
    def mode(self) -> TlsMode:
        """The mode; permissive for any other text, as in Java."""
        modes = {mode.value: mode for mode in TlsMode}
        return modes.get(self.server_mode, TlsMode.PERMISSIVE)

    @property
    def client_auth(self) -> ClientAuth:
        """Whether clients need a certificate.

        Without ``auth_client`` every certificate would be accepted: Java requests one then and does
        not verify it, this server requests none.
        """
        values = {auth.value: auth for auth in ClientAuth}
        if self.test_mode or not self.auth_client:
            return ClientAuth.NONE
        return values.get(self.need_client_auth.lower(), ClientAuth.NONE)

    @property
    def requires_certificates(self) -> bool:
        """Whether only clients with a trusted certificate are served."""
        return self.mode is TlsMode.ENFORCING and self.client_auth is ClientAuth.REQUIRE

    @property
    def remarks(self) -> tuple[str, ...]:
        if self.mode is TlsMode.DISABLED:
            return ()
        remarks = [
            f"{key} counts as a system property only (-D{key}=...)" for key in self.misplaced
        ]
        if self.server_mode != self.mode.value:
            remarks.append(f"{_MODE}={self.server_mode!r} is no mode, permissive is taken")
        if not self.test_mode:
            remarks += self._remarks_on_certificates()
        return tuple(remarks)

    def _remarks_on_certificates(self) -> list[str]:
        remarks: list[str] = []
        value = self.need_client_auth.lower()
        if value and value not in {auth.value for auth in ClientAuth}:
            remarks.append(
                f"tls.server.need.client.auth={self.need_client_auth!r} is none of none, optional,"
                " require: no client is asked for a certificate"
            )
        elif value not in {"", "none"} and not self.auth_client:
            remarks.append(
                "no client is asked for a certificate, because any would do: tls.server.authClient"
                " is false"
            )
        return remarks
