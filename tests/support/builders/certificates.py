"""Certificates for tests: authorities, and what they sign.

Elliptic keys, because they are made in no time.
"""

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from trio.testing import memory_stream_pair

from rocketwire.serving.tls.settings import TlsSettings
from rocketwire.serving.tls.stream import TlsStream

_AUTHORITY_USAGE = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@dataclass(frozen=True)
class Pair:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self, password: str = "") -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption(),
        )

    def issue(self, name: str) -> "Pair":
        return _sign(name, self)

    def write(self, folder: Path, name: str, password: str = "") -> tuple[str, str]:
        paths = folder / f"{name}.pem", folder / f"{name}.key"
        paths[0].write_bytes(self.certificate_pem)
        paths[1].write_bytes(self.key_pem(password))
        return str(paths[0]), str(paths[1])


def authority(name: str = "authority") -> Pair:
    return _sign(name, None)


def _sign(name: str, issuer: Pair | None) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    signer = issuer.key if issuer else key
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer.certificate.subject if issuer else _name(name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        # Python 3.13 and later refuse certificates without the following.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    if issuer is None:
        builder = builder.add_extension(_AUTHORITY_USAGE, critical=True)
    return Pair(builder.sign(signer, hashes.SHA256()), key)


def with_pair(folder: Path, pair: Pair, **settings: Any) -> TlsSettings:
    """Settings with a certificate, which is written to ``server.pem`` and ``server.key``."""
    cert, key = pair.write(folder, "server")
    return TlsSettings(test_mode=False, cert_path=cert, key_path=key, **settings)


async def certificate_of(context: ssl.SSLContext) -> x509.Certificate:
    ours, theirs = memory_stream_pair()
    certificates: list[bytes] = []

    async def look() -> None:
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        stream = trio.SSLStream(ours, client)
        await stream.do_handshake()
        certificates.append(stream.getpeercert(binary_form=True))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        await TlsStream(theirs, context).do_handshake()
    return x509.load_der_x509_certificate(certificates[0])
