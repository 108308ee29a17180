"""Digests and checksums of bodies, in steps; a known body is not summed again."""

import os

import pytest

from rocketwire.wire.checksum import crc32
from rocketwire_namesrv.registration import reader
from rocketwire_namesrv.registration.digests import (
    ChecksumError,
    check_sum,
    choose_digest,
    digest_in_steps,
    digest_of,
)
from rocketwire_namesrv.registration.parsed import BodyRecord, RegisteredTopics
from rocketwire_namesrv.registration.reader import read_registered_topics
from rocketwire_namesrv.routes.steps import run_steps
from tests.unit.namesrv.registration.test_reader import body_of, names, pack

LARGE = os.urandom(1000) * 1000
BODIES = pytest.mark.parametrize("body", [body_of(names(600)), pack(names(2000)), body_of({})])


def test_short_digests_are_not_relied_on() -> None:
    assert choose_digest("siphash24", 64) is hash
    assert choose_digest("siphash13", 32) is not hash
    assert digest_of(b"x") == digest_of(bytes([120]))


def test_large_bodies_are_summed_in_steps() -> None:
    assert run_steps(digest_in_steps(LARGE)) == run_steps(digest_in_steps(bytes(bytearray(LARGE))))
    assert run_steps(digest_in_steps(LARGE)) != run_steps(digest_in_steps(LARGE[:-1] + b"x"))
    assert len(list(digest_in_steps(LARGE))) == len(list(check_sum(LARGE, crc32(LARGE)))) == 3
    with pytest.raises(ChecksumError, match="crc32 not match"):
        run_steps(check_sum(LARGE, crc32(LARGE) ^ 1))


@pytest.mark.parametrize("body", [None, b""])
def test_without_a_body_any_checksum_is_wrong(body: bytes | None) -> None:
    run_steps(check_sum(body, 0))
    with pytest.raises(ChecksumError):
        run_steps(check_sum(body, 1))


def read(body: bytes, crc: int, previous: BodyRecord | None = None) -> RegisteredTopics:
    steps = read_registered_topics(
        body, compressed=False, version=513, wall_ms=5, previous=previous, crc=crc
    )
    return run_steps(steps)


@BODIES
def test_wrong_checksum_is_noticed(body: bytes) -> None:
    first = read(body, crc32(body))
    for previous in (None, first.record):
        with pytest.raises(ChecksumError):
            read(body, crc32(body) ^ 1, previous)
        with pytest.raises(ChecksumError):
            read(body[:-1], crc32(body), previous)


@pytest.mark.parametrize("body", [body_of(names(600)), pack(names(2000))])
def test_known_body_is_not_summed_again(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(body, crc32(body))
    monkeypatch.delattr(reader, "check_sum")
    second = read(body, crc32(body), first.record)

    assert second.record is first.record
    assert (second.unchanged, list(second.topics)) == (True, [])
    assert second.count == first.count > 0
