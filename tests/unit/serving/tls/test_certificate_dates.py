"""The end of a certificate's validity, compared with what the library cryptography reads."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from rocketwire.serving.tls.certificates import not_after

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
