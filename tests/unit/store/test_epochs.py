"""Files of brokers in controller mode, with the bytes of the fixture ``controller-5.5.0``."""

import pytest

from rocketwire.errors import DecodeError
from rocketwire.store.epochs import BrokerIdentity, Epoch, decode_epochs, decode_identity
from rocketwire.wire.checksum import crc32

JAVA = b"1\n1725254278\n1-0\n"


def epoch_file(lines: bytes, count: int) -> bytes:
    return b"%d\n%d\n%s" % (count, crc32(lines), lines)


def test_epochs_follow_their_number_and_their_checksum() -> None:
    lines = b"1-0\n4-1048576\n"

    assert decode_epochs(JAVA) == [Epoch(1, 0)]
    assert decode_epochs(epoch_file(lines, 2)) == [Epoch(1, 0), Epoch(4, 1_048_576)]


def test_a_checksum_of_zero_and_unknown_lines_are_ignored() -> None:
    assert decode_epochs(b"1\n0\n1-0\nnothing\n") == [Epoch(1, 0)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the number of epochs is no number"),
        (b"1", "the checksum is no number"),
        (JAVA.replace(b"-0", b"-1"), "the checksum is wrong"),
        (b"2" + JAVA[1:], "1 epochs are there, and the first line says 2"),
        (b"1\n0\n2147483648-0\n", "an epoch is no number"),
        (b"1\n0\n1-9223372036854775808\n", "an offset is no number"),
        (bytes(4096), "the number of epochs is no number"),
    ],
)
def test_a_file_that_java_refuses_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode_epochs(data)


def test_an_identity_has_three_parts() -> None:
    identity = decode_identity(b"DefaultCluster#broker-a#1")

    assert identity == BrokerIdentity("DefaultCluster", "broker-a", 1)


@pytest.mark.parametrize("data", [b"", b"a#b", b"a#b#c", b"a#b#1#2", b"a#b#-1"])
def test_an_identity_without_one_of_its_parts_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_identity(data)
