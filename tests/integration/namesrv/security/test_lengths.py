"""Lengths that are not true close their connection, and take no memory before they are found out."""

import gc
import struct
import tracemalloc

import pytest

from tests.support.fakes.sansio_server import identity
from tests.support.running_server import CLUSTER_INFO, running

pytestmark = pytest.mark.usefixtures("driver_name")

MEGABYTE = 1 << 20


def binary(
    remark_length: int = 0, remark: bytes = b"", ext_length: int = 0, ext: bytes = b""
) -> bytes:
    header = struct.pack(">hbhii", 106, 0, 401, 1, 0)
    header += struct.pack(">i", remark_length) + remark + struct.pack(">i", ext_length) + ext
    return struct.pack(">II", 4 + len(header), 1 << 24 | len(header)) + header


ENTRY = struct.pack(">h", 1) + b"k" + struct.pack(">i", 1) + b"v"
HOSTILE = {
    "T-3474 remark of 2^31-1": binary(2**31 - 1),
    "T-3474 remark of -1": binary(-1),
    "T-3474 remark one too long": binary(9, b"12345678"),
    "T-3474 fields longer than the header": binary(ext_length=len(ENTRY) + 1, ext=ENTRY),
    "T-3474 fields of 2^31-1": binary(ext_length=2**31 - 1, ext=ENTRY),
    "key longer than the fields": binary(ext_length=9, ext=struct.pack(">h", 32767) + b"k" * 7),
    "key of -1": binary(ext_length=9, ext=struct.pack(">h", -1) + b"k" * 7),
    "value of 2^31-1": binary(
        ext_length=8, ext=struct.pack(">h", 1) + b"k" + struct.pack(">i", 2**31 - 1) + b"v"
    ),
    "value of -1": binary(
        ext_length=8, ext=struct.pack(">h", 1) + b"k" + struct.pack(">i", -1) + b"v"
    ),
    "frame of 2^31-1": struct.pack(">I", 2**31 - 1) + bytes(60),
    "frame of -1": b"\xff" * 64,
    "frame of 0": bytes(64),
    "header longer than the frame": struct.pack(">II", 60, 61) + bytes(56),
    "header of 2^24-1": struct.pack(">II", 2**24 - 4, 2**24 - 1) + bytes(56),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_T_3474_a_length_that_is_not_true_costs_its_sender_alone(name: str) -> None:
    async with running() as site:
        innocent = site.connect()
        assert (await innocent.ask(CLUSTER_INFO)).code == 0
        peer = site.connect()
        gc.collect()
        tracemalloc.start()
        try:
            await peer.send(HOSTILE[name])
            assert await peer.is_closed()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert peak < MEGABYTE
        assert (await innocent.ask(CLUSTER_INFO)).code == 0


async def test_a_count_of_topics_that_is_not_true_takes_no_memory() -> None:
    # As ``RegisterBrokerBody`` of Java allocates what a packed body claims to hold.
    import zlib

    from tests.support.fakes.sansio_server import request

    fields = identity("b", address="a:1", compressed="true")
    claims = [
        struct.pack(">i", length) + tail
        for length in (2**31 - 1, -1, 2**24)
        for tail in (b"{}", b"\0\0\0\2{}" + struct.pack(">i", 2**31 - 1))
    ] + [b"\0\0\0\2{}" + struct.pack(">ii", count, 2**31 - 1) for count in (1, 2**31 - 1, -1)]
    async with running() as site:
        peer = site.connect()
        assert (await peer.ask(CLUSTER_INFO)).code == 0
        gc.collect()
        tracemalloc.start()
        try:
            codes = [
                (await peer.ask(request(103, fields, zlib.compress(claim)))).code
                for claim in claims
            ]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert codes == [1] * len(claims)
        assert peak < MEGABYTE
        assert await peer.brokers() == {}
