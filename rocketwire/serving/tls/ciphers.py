"""``tls.ciphers``: Java's names of cipher suites, and OpenSSL's names for them.

Rules of this file: suites that the operator has not listed are never negotiated.  Python (before
3.15) cannot choose among the three suites of TLS 1.3: it offers all of them or, without TLS 1.3,
none.

Java: ``TlsHelper.moreTlsConfig``; JDK's standard names are those of the IANA, OpenSSL has its own
for TLS 1.2.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

TLS_1_3: Final = frozenset(
    {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"}
)

_STANDARD: Final = re.compile(r"(?:TLS|SSL)_([A-Z_]+)_WITH_([0-9A-Z_]+?)(?:_(SHA\d*))?")
_EXCHANGES: Final = {
    "ECDHE_ECDSA": "ECDHE-ECDSA-",
    "ECDHE_RSA": "ECDHE-RSA-",
    "DHE_RSA": "DHE-RSA-",
    "DHE_DSS": "DHE-DSS-",
    "RSA": "",
}
_BLOCKS: Final = re.compile(r"(AES|ARIA|CAMELLIA)_(128|256)_(CBC|GCM|CCM|CCM_8)")
_MODES: Final = {"CBC": "", "GCM": "-GCM", "CCM": "-CCM", "CCM_8": "-CCM8"}


class CipherChoice(NamedTuple):
    older: tuple[str, ...]  # for TLS 1.2, by OpenSSL's names
    newer: tuple[str, ...]  # for TLS 1.3
    unknown: tuple[str, ...]  # names that this OpenSSL does not know

    @property
    def remarks(self) -> tuple[str, ...]:
        remarks: list[str] = []
        if self.unknown:
            remarks.append(f"tls.ciphers contains unknown names: {', '.join(self.unknown)}")
        if self.is_partly_new and not _can_choose_newer():
            remarks.append(
                "TLS 1.3 is not spoken, because tls.ciphers names some of its cipher suites and not"
                " all: Python cannot choose among them"
            )
        return tuple(remarks)

    @property
    def is_partly_new(self) -> bool:
        """Whether the list has some suites of TLS 1.3 and not all."""
        return bool(self.newer) and not TLS_1_3.issubset(self.newer)


def openssl_name(name: str) -> str:
    """Return OpenSSL's name of a cipher suite; the same name if it is not a standard name of TLS
    1.2."""
    parts = _STANDARD.fullmatch(name)
    exchange = None if parts is None else _EXCHANGES.get(parts[1])
    if parts is None or exchange is None:
        return name
    cipher, digest = parts[2], parts[3] or ""
    if cipher == "CHACHA20_POLY1305":
        return f"{exchange}CHACHA20-POLY1305"
    block = _BLOCKS.fullmatch(cipher)
    if block is None:
        return name
    suffix = "" if block[3].startswith("CCM") else f"-{digest}"
    if block[1] == "ARIA" and exchange.startswith("ECDHE-RSA"):
        exchange = "ECDHE-"  # OpenSSL leaves the certificate's kind out of this one family
    return f"{exchange}{block[1]}{block[2]}{_MODES[block[3]]}{suffix}"


def choose(text: str) -> CipherChoice:
    names = [name.strip() for name in text.split(",") if name.strip()]
    translated = {name: openssl_name(name) for name in names if name not in TLS_1_3}
    return CipherChoice(
        older=tuple(
            dict.fromkeys(suite for suite in translated.values() if suite in _list_suites())
        ),
        newer=tuple(dict.fromkeys(name for name in names if name in TLS_1_3)),
        unknown=tuple(name for name, suite in translated.items() if suite not in _list_suites()),
    )


def restrict(context: ssl.SSLContext, choice: CipherChoice) -> None:
    """Limit a context, whose versions are set, to these suites."""
    choose_newer: Callable[[str], None] | None = getattr(context, "set_ciphersuites", None)
    with_newer = bool(choice.newer) and (choose_newer is not None or not choice.is_partly_new)
    if choice.older:
        context.set_ciphers(":".join(choice.older))
    if with_newer and choose_newer is not None:
        choose_newer(":".join(choice.newer))
    if not choice.older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    if not with_newer:
        context.maximum_version = min(context.maximum_version, ssl.TLSVersion.TLSv1_2)
    if context.minimum_version > context.maximum_version:
        raise ValueError("tls.ciphers and tls.protocols leave no cipher suite that can be used")


def _can_choose_newer() -> bool:
    return hasattr(ssl.SSLContext, "set_ciphersuites")


@cache
def _list_suites() -> frozenset[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL:!aNULL:!eNULL:!PSK:!SRP:@SECLEVEL=0")
    listed: Sequence[Any] = context.get_ciphers()
    return frozenset(str(suite["name"]) for suite in listed) - TLS_1_3
