"""A self-signed certificate for the test mode; peers that verify certificates reject it.

Needs the library ``cryptography`` (the extra ``tls``), which is imported on first use.

Java: netty's ``SelfSignedCertificate``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

_KEY_BITS: Final = 2048
_EXPONENT: Final = 65_537
_AGE: Final = timedelta(days=365)
_END: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


class SelfSigned(NamedTuple):
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes


def make_self_signed(now: datetime) -> SelfSigned:
    """Make a certificate as Java's test mode does: RSA 2048, SHA-256, ``CN=localhost``.

    It takes some tenths of a second.

    Args:
        now: it is valid from a year before until the end of the year 9999.

    Raises:
        ImportError: the library is not installed.
    """
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
