"""Certificates are loaded as a pair or not at all; self-signed ones are like Java's; the end of validity is as the library cryptography reads it."""

import math
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from rocketwire.serving.tls.certificates import (
    TlsError,
    expiry_of,
    first_certificate,
    make_client_context,
    make_self_signed,
    make_server_context,
    not_after,
)
from rocketwire.serving.tls.settings import TlsSettings
from tests.support.builders.certificates import authority, certificate_of, with_pair

OURS = authority("ours")


async def test_the_certificate_is_the_one_of_the_file(tmp_path: Path) -> None:
    pair = OURS.issue("server")

    assert await certificate_of(make_server_context(with_pair(tmp_path, pair))) == pair.certificate


def test_a_key_that_does_not_belong_to_the_certificate_is_refused(tmp_path: Path) -> None:
    settings = with_pair(tmp_path, OURS.issue("server"))
    Path(settings.key_path).write_bytes(OURS.issue("other").key_pem())

    with pytest.raises(TlsError, match=r"(?i)mismatch"):
        make_server_context(settings)


@pytest.mark.parametrize("gone", ["server.pem", "server.key"])
def test_a_missing_file_is_named(tmp_path: Path, gone: str) -> None:
    settings = with_pair(tmp_path, OURS.issue("server"))
    (tmp_path / gone).unlink()

    with pytest.raises(TlsError, match=gone):
        make_server_context(settings)


def test_an_encrypted_key_needs_its_password_and_never_asks_for_it(tmp_path: Path) -> None:
    cert, key = OURS.issue("server").write(tmp_path, "server", "right")

    def load(password: str) -> None:
        make_server_context(
            TlsSettings(test_mode=False, cert_path=cert, key_path=key, key_password=password)
        )

    load("right")
    for password in ("", "wrong"):
        with pytest.raises(TlsError):
            load(password)


def test_trust_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    settings = with_pair(
        tmp_path,
        OURS.issue("server"),
        need_client_auth="require",
        trust_cert_path=str(tmp_path / "none.pem"),
    )

    make_server_context(settings)  # not verified, not read
    with pytest.raises(TlsError, match=r"none\.pem"):
        make_server_context(settings.over({"tls.server.authClient": "true"}))


def test_without_a_file_the_systems_authorities_are_trusted(tmp_path: Path) -> None:
    settings = with_pair(tmp_path, OURS.issue("server"), need_client_auth="require")

    context = make_server_context(settings.over({"tls.server.authClient": "true"}))

    assert context.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("protocols", "expected"),
    [
        ("", ("TLSv1_2", "TLSv1_3")),
        ("TLSv1.3", ("TLSv1_3", "TLSv1_3")),
        ("TLSv1.1, TLSv1.2", ("TLSv1_2", "TLSv1_2")),
    ],
)
def test_versions_can_be_limited(tmp_path: Path, protocols: str, expected: tuple[str, str]) -> None:
    context = make_server_context(with_pair(tmp_path, OURS.issue("server"), protocols=protocols))

    assert (context.minimum_version.name, context.maximum_version.name) == expected


def test_old_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TlsError, match="names neither"):
        make_server_context(with_pair(tmp_path, OURS.issue("server"), protocols="TLSv1.1"))


def test_connections_to_brokers_verify_on_demand(tmp_path: Path) -> None:
    trust, _ = OURS.write(tmp_path, "authority")
    cert, key = OURS.issue("client").write(tmp_path, "client")
    verifying = TlsSettings(
        test_mode=False,
        auth_server=True,
        client_trust_cert_path=trust,
        client_cert_path=cert,
        client_key_path=key,
    )

    assert make_client_context(TlsSettings()).verify_mode == ssl.CERT_NONE
    assert make_client_context(TlsSettings(test_mode=False)).verify_mode == ssl.CERT_NONE
    assert make_client_context(verifying).verify_mode == ssl.CERT_REQUIRED


def test_a_certificate_of_our_own_making_is_like_javas() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    certificate = x509.load_pem_x509_certificate(make_self_signed(now).certificate)

    key = certificate.public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    assert key.key_size == 2048
    assert certificate.subject.rfc4514_string() == "CN=localhost"
    assert certificate.issuer == certificate.subject
    assert certificate.not_valid_before_utc == now - timedelta(days=365)
    assert certificate.not_valid_after_utc.date().isoformat() == "9999-12-31"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no certificate",
        b"-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
    ],
)
def test_a_file_without_a_certificate_has_no_expiry(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "server.pem"
    path.write_bytes(content)

    assert math.isnan(expiry_of(first_certificate(str(path))))
    assert math.isnan(expiry_of(first_certificate(str(tmp_path / "nowhere.pem"))))


NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])


def certificate(end: datetime, *, names: int = 0) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    begin = datetime(1960, 1, 1, tzinfo=UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(NAME)
        .issuer_name(NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(end)
    )
    if names:
        hosts = [x509.DNSName(f"host{number}.example") for number in range(names)]
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


@pytest.mark.parametrize(
    "end",
    [
        datetime(1975, 2, 3, 4, 5, 6, tzinfo=UTC),
        datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2050, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    ],
)
def test_the_end_is_read_in_either_form_of_a_time(end: datetime) -> None:
    der = certificate(end)

    assert x509.load_der_x509_certificate(der).not_valid_after_utc == end
    assert datetime.fromtimestamp(0, UTC) + timedelta(seconds=not_after(der)) == end


def test_a_large_certificate_is_read_too() -> None:
    end = datetime(2030, 1, 1, tzinfo=UTC)

    assert not_after(certificate(end, names=5_000)) == end.timestamp()


def test_a_certificate_of_the_first_version_has_no_field_for_it() -> None:
    der = certificate(datetime(2030, 1, 1, tzinfo=UTC))
    field = bytes.fromhex("a003020102")
    head = der.index(field)
    assert not_after(der[:head] + der[head + len(field) :] + bytes(5)) == not_after(der)


def test_damaged_certificate_is_an_error_or_has_a_time() -> None:
    der = certificate(datetime(2030, 1, 1, tzinfo=UTC))
    for place in range(len(der)):
        with pytest.raises(ValueError, match="ends too early"):
            not_after(der[:place])
        with suppress(ValueError):
            not_after(der[:place] + bytes([der[place] ^ 0x55]) + der[place + 1 :])


def test_certificate_without_a_time_is_an_error() -> None:
    der = certificate(datetime(2030, 1, 1, tzinfo=UTC))
    place = der.index(b"\x17\x0d300101")

    with pytest.raises(ValueError, match="no time in the certificate, but 0x4"):
        not_after(der[:place] + b"\x04" + der[place + 1 :])
