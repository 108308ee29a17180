"""Builds TLS contexts from files or from a self-signed certificate, and reads its expiry.

Rules of this file: functions block; nothing is half done: a context is made of all its files or not
at all. Python reads the expiry of certificates of peers only, so that of a file is read from its
DER form here, strict only about the fields that are read: OpenSSL checks certificates.

Java: ``TlsHelper``, netty's ``SelfSignedCertificate``. DER: RFC 5280, sections 4.1 and 4.1.2.5.
"""

from __future__ import annotations

import base64
import math
import os
import re
import ssl
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from rocketwire.errors import RocketWireError
from rocketwire.os_errors import os_error_text
from rocketwire.serving.tls.ciphers import choose, restrict
from rocketwire.serving.tls.settings import ClientAuth, TlsSettings

_AUTH: Final = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.OPTIONAL: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRE: ssl.CERT_REQUIRED,
}
_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CERTIFICATE: Final = re.compile(rb"-----BEGIN CERTIFICATE-----([^-]*)-----END")


class TlsError(RocketWireError):
    """There is no certificate, or it is invalid."""


def make_server_context(settings: TlsSettings) -> ssl.SSLContext:
    """Create the TLS context of accepted connections; blocks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    _limit(context, settings)
    if settings.test_mode:
        _load_self_signed(context)
        return context
    _load_pair(context, settings.cert_path, settings.key_path, settings.key_password)
    context.verify_mode = _AUTH[settings.client_auth]
    if settings.client_auth is not ClientAuth.NONE:
        _load_trust(context, settings.trust_cert_path, ssl.Purpose.CLIENT_AUTH)
    return context


def make_client_context(settings: TlsSettings) -> ssl.SSLContext:
    """Create the TLS context of connections to brokers; names are not verified, as in Java."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    _limit(context, settings)
    if settings.test_mode or not settings.auth_server:
        context.verify_mode = ssl.CERT_NONE
    else:
        _load_trust(context, settings.client_trust_cert_path, ssl.Purpose.SERVER_AUTH)
    if settings.client_cert_path and not settings.test_mode:
        _load_pair(
            context,
            settings.client_cert_path,
            settings.client_key_path,
            settings.client_key_password,
        )
    return context


def first_certificate(path: str) -> bytes | None:
    """Return the first certificate of a PEM file in DER form; None if there is none.

    OpenSSL has read the file already, so an error is not reported a second time.
    """
    try:
        with open(path, "rb") as file:
            certificate = _CERTIFICATE.search(file.read())
        return None if certificate is None else base64.b64decode(certificate[1])
    except (OSError, ValueError):
        return None


def _limit(context: ssl.SSLContext, settings: TlsSettings) -> None:
    names = [name.strip() for name in settings.protocols.split(",") if name.strip()]
    versions = [_VERSIONS[name] for name in names if name in _VERSIONS] or list(_VERSIONS.values())
    if names and not any(name in _VERSIONS for name in names):
        raise TlsError(f"tls.protocols={settings.protocols!r} names neither TLSv1.2 nor TLSv1.3")
    context.minimum_version = min(versions)
    context.maximum_version = max(versions)
    if settings.ciphers:
        try:
            restrict(context, choose(settings.ciphers))
        except (ValueError, ssl.SSLError) as error:
            raise TlsError(f"tls.ciphers={settings.ciphers!r}: {error}") from error


def _load_pair(context: ssl.SSLContext, certificate: str, key: str, password: str) -> None:
    try:
        # a password, even an empty one, keeps OpenSSL from asking the terminal for one
        context.load_cert_chain(certificate, key or None, password)
    except (OSError, ValueError) as error:
        raise TlsError(
            f"certificate {certificate} with key {key}: {os_error_text(error)}"
        ) from error


def _load_trust(context: ssl.SSLContext, path: str, purpose: ssl.Purpose) -> None:
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # whatever is in the file is trusted
    if not path:
        context.load_default_certs(purpose)
        return
    try:
        context.load_verify_locations(path)
    except (OSError, ValueError) as error:
        raise TlsError(f"trusted certificates {path}: {os_error_text(error)}") from error


def _load_self_signed(context: ssl.SSLContext) -> None:
    try:
        pair = make_self_signed(datetime.now(UTC))
    except ImportError as error:
        raise TlsError(
            "the test mode needs the library cryptography (pip install 'rocketwire[tls]'), or set"
            " tls.test.mode.enable=false, tls.server.certPath and tls.server.keyPath"
        ) from error
    with ExitStack() as files:
        certificate = files.enter_context(_as_file(pair.certificate))
        key = files.enter_context(_as_file(pair.key))
        _load_pair(context, certificate, key, "")


@contextmanager
def _as_file(content: bytes) -> Generator[str]:
    if sys.platform == "linux":
        with os.fdopen(os.memfd_create("rocketwire"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name


_KEY_BITS: Final = 2048
_EXPONENT: Final = 65_537
_AGE: Final = timedelta(days=365)
_END: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


class SelfSigned(NamedTuple):
    certificate: bytes
    key: bytes


def make_self_signed(now: datetime) -> SelfSigned:
    """Make a certificate as Java's test mode does: RSA 2048, SHA-256, ``CN=localhost``."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_KEY_BITS)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _AGE)
        .not_valid_after(_END)
        .sign(key, hashes.SHA256())
    )
    return SelfSigned(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0  # the first field, where there is one
_BEFORE_VALIDITY: Final = 3  # serial number, signature algorithm, issuer
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_LONG: Final = 0x80


def not_after(der: bytes) -> float:
    try:
        position = _start_of(der, _start_of(der, 0))
        if der[position] == _VERSION:
            position = _end_of(der, position)
        for _ in range(_BEFORE_VALIDITY):
            position = _end_of(der, position)
        position = _end_of(der, _start_of(der, position))
        tag, start, end = _element(der, position)
    except IndexError as error:
        raise ValueError("the certificate ends too early") from error
    return _time(tag, der[start:end].decode("ascii"))


def _element(der: bytes, position: int) -> tuple[int, int, int]:
    tag, length, start = der[position], der[position + 1], position + 2
    if length >= _LONG:
        size = length - _LONG
        length = int.from_bytes(der[start : start + size], "big")
        start += size
    if start + length > len(der):
        raise IndexError
    return tag, start, start + length


def _start_of(der: bytes, position: int) -> int:
    tag, start, _ = _element(der, position)
    if tag != _SEQUENCE:
        raise ValueError(f"there is no sequence at byte {position} of the certificate")
    return start


def _end_of(der: bytes, position: int) -> int:
    return _element(der, position)[2]


def _time(tag: int, text: str) -> float:
    if tag == _UTC_TIME:  # two digits of the year: 50 to 49 are 1950 to 2049
        text = f"{'19' if text[:2] >= '50' else '20'}{text}"
    elif tag != _GENERALIZED_TIME:
        raise ValueError(f"there is no time in the certificate, but {tag:#x}")
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()


def expiry_of(der: bytes | None) -> float:
    """Return the end of a certificate's validity in seconds since 1970; NaN without a valid one."""
    try:
        return math.nan if der is None else not_after(der)
    except ValueError:
        return math.nan
