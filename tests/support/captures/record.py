"""Records the captures of ``tests/fixtures/captures`` from real peers: ``python -m
tests.support.captures.record``.

Run it from the root of the checkout, on Linux with Java, Maven and tshark. Everything uses a
network namespace with loopback only, so that addresses and ids contain 127.0.0.1.
"""

import ctypes
import fcntl
import gzip
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tests.peers import cache as java_cache
from tests.peers import manifest
from tests.peers.peers import BINARY_HEADERS, CURRENT, OLD, JavaBroker, JavaNameServer, JavaPeer
from tests.peers.processes import PeerFailedError
from tests.support.captures.tshark_frames import count
from tests.support.tap import tapped

_EVERY_PROTOCOL = 0x0003
_OUTGOING = 4
_TIMESTAMPNS = 35
_SOL_PACKET = 263
_PACKET_STATISTICS = 6
_ETHTOOL = 0x8946
_OFFLOADS = {"TSO": 0x1F, "GSO": 0x24, "GRO": 0x2C}
_ETHERNET = 1
_BUFFER = 64 << 20
_IPV4_TCP = (b"\x08\x00", 6)


def small_segments(interface: str = "lo") -> None:
    """Let the interface send segments as a network card would, instead of up to 64 KB at a time."""
    with socket.socket() as asking:
        for command in _OFFLOADS.values():
            value = bytearray(struct.pack("II", command, 0))
            place = (ctypes.c_char * len(value)).from_buffer(value)
            request = struct.pack("16sP", interface.encode(), ctypes.addressof(place))
            fcntl.ioctl(asking, _ETHTOOL, request + bytes(16))


class Recorder:
    def __init__(self, interface: str = "lo") -> None:
        self.packets: list[tuple[int, bytes]] = []  #: nanoseconds since 1970 and bytes of each
        self._interface = interface
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)

    def __enter__(self) -> Self:
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY_PROTOCOL)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._socket.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        self._socket.bind((self._interface, 0))
        self._socket.settimeout(0.2)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()
        statistics = self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        self._socket.close()
        dropped: int = struct.unpack("II", statistics)[1]
        if dropped:
            raise OSError(f"the recorder missed {dropped} packets")

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                data, extra, _, address = self._socket.recvmsg(1 << 17, 64)
            except TimeoutError:
                continue
            if address[2] == _OUTGOING or (data[12:14], data[23]) != _IPV4_TCP:
                continue  # on loopback each packet comes twice
            self.packets.append((_time_of(extra), data))

    def save(self, path: Path) -> None:
        head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, _ETHERNET)
        with path.open("wb") as file:
            file.write(head)
            for time_ns, data in sorted(self.packets):
                seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
                file.write(struct.pack("<IIII", seconds, nanoseconds, len(data), len(data)) + data)


def _time_of(extra: list[tuple[int, int, bytes]]) -> int:
    for level, message_type, value in extra:
        if (level, message_type) == (socket.SOL_SOCKET, _TIMESTAMPNS):
            seconds, data = struct.unpack("qq", value)
            return int(seconds * 1_000_000_000 + data)
    raise OSError("a packet without a time")


INSIDE = "ROCKETWIRE_CAPTURING_INSIDE"
FOLDER = manifest.FIXTURES / "captures"
LARGEST = 300_000
GIVES_AWAY = re.compile(
    rb"/(?:root|home|tmp|work|usr|var)/|\b(?!127\.|0\.0\.0\.0|192\.0\.2\.)\d{1,3}\.\d+\.\d+\.\d+:"
)
"""A path of the machine, or an address that is neither loopback nor one for documentation."""
PROXY = b"PROXY TCP4 192.0.2.1 192.0.2.2 4660 9876\r\n"
TLS = ("-Dtls.enable=true", "-Dtls.test.mode.enable=true")
SECRET_SERVER = ("-Dtls.server.mode=permissive", "-Dtls.test.mode.enable=true")


def wait_for_topic(peer: JavaPeer, address: str, topic: str) -> None:
    for _ in range(45):
        if "brokerDatas" in peer.admin(address, f"topicRoute -t {topic}").out:
            return
        time.sleep(2)
    raise PeerFailedError(f"no route of {topic}")


def record_cluster(scratch: Path, version: str, jvm: Sequence[str] = ()) -> Recorder:
    with ExitStack() as stack:
        recorder = stack.enter_context(Recorder())
        server = JavaNameServer(scratch / "namesrv", version=version, jvm=jvm)
        stack.enter_context(server)
        broker = JavaBroker(scratch / "broker", [server.address], version=version, jvm=jvm)
        stack.enter_context(broker)
        peer = stack.enter_context(JavaPeer(scratch / "peer", version=version, jvm=jvm))
        wait_for_topic(peer, server.address, "TBW102")
        for line in (
            "updateTopic -c DefaultCluster -t orders -r 4 -w 4",
            "updateKvConfig -s SPACE -k key -v value",
            "topicList",
            "topicRoute -t NoSuchTopic",
        ):
            peer.admin(server.address, line)
        wait_for_topic(peer, server.address, "orders")
        peer.send(server.address, "orders", "shop", range(20))
        peer.consume(server.address, "orders", "bookkeeping")
        peer.received("bookkeeping", 20)
        peer.call("oneway", server.address, "orders", "shop", "20")
        peer.received("bookkeeping", 21)
        peer.admin(server.address, "deleteTopic -c DefaultCluster -t orders")
        peer.close("bookkeeping")
        peer.close("shop")
        broker.stop(30 if version == OLD else 5)  # 4.9.4 unregisters last, 5.x first
        server.stop()
    return recorder


def record_secret(scratch: Path) -> Recorder:
    """A name server with clear connections, TLS, and a load balancer that uses the PROXY
    protocol."""
    with ExitStack() as stack:
        recorder = stack.enter_context(Recorder())
        server = JavaNameServer(scratch / "namesrv", jvm=SECRET_SERVER)
        stack.enter_context(server)
        balancer = stack.enter_context(tapped(server.port, preface=PROXY))
        clear_path = stack.enter_context(JavaPeer(scratch / "plain"))
        secret = stack.enter_context(JavaPeer(scratch / "secret", jvm=TLS))
        for peer, address in (
            (clear_path, server.address),
            (secret, server.address),
            (clear_path, balancer.address),
        ):
            peer.admin(address, "updateKvConfig -s SPACE -k key -v value")
            peer.admin(address, "topicList")
        server.stop()
    return recorder


Scenario = tuple[str, str, "Callable[[Path], Recorder]"]

SCENARIOS: dict[str, Scenario] = {
    "java-5.5.0": (
        "Apache RocketMQ 5.5.0",
        "a name server, a broker, mqadmin, a producer and a push consumer",
        lambda scratch: record_cluster(scratch, CURRENT),
    ),
    "java-5.5.0-binary": (
        "Apache RocketMQ 5.5.0",
        f"the same with {BINARY_HEADERS}, segments as of a network card",
        lambda scratch: record_cluster(scratch, CURRENT, [BINARY_HEADERS]),
    ),
    "java-4.9.4": (
        "Apache RocketMQ 4.9.4",
        "the same of the release of 2022",
        lambda scratch: record_cluster(scratch, OLD),
    ),
    "java-5.5.0-tls": (
        "Apache RocketMQ 5.5.0",
        "a name server that mqadmin asks in clear, by TLS, and behind a PROXY header",
        record_secret,
    ),
}
SMALL_SEGMENTS = "java-5.5.0-binary"


def record(names: Sequence[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            product, how, scenario = SCENARIOS[name]
            if name == SMALL_SEGMENTS:
                subprocess.run(["ip", "link", "set", "lo", "mtu", "1500"], check=True)
                small_segments()
            clear_path = Path(scratch) / f"{name}.pcap"
            scenario(Path(scratch) / name).save(clear_path)
            keep(clear_path, name, product, how)


def keep(clear_path: Path, name: str, product: str, how: str) -> None:
    data = clear_path.read_bytes()
    if chosen := GIVES_AWAY.search(data):
        raise ValueError(f"{name} gives the machine away: {data[chosen.start() - 40 :][:120]!r}")
    packed = gzip.compress(data, 9, mtime=0)
    if len(packed) > LARGEST:
        raise ValueError(f"{name} has {len(packed)} bytes, {LARGEST} is the limit")
    counted = count(clear_path)
    frames = sum(len(packet["frames"]) for packet in counted)
    lines = ",\n".join(json.dumps(packet) for packet in counted)
    (FOLDER / f"{name}.pcap.gz").write_bytes(packed)
    (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n", "utf-8")
    enter(name, product, how)
    sys.stderr.write(f"{name}: {len(data)} bytes, {len(packed)} packed, {frames} frames\n")


def enter(name: str, product: str, how: str) -> None:
    current = manifest.load()
    files = (f"captures/{name}.pcap.gz", f"captures/{name}.json")
    recorded = {"kind": "capture", "product": product, "how": how}
    counted = {"kind": "count", "how": "streams put together by tshark, cut by their length words"}
    for entry_kind, file, origin in (("capture", files[0], recorded), ("count", files[1], counted)):
        other_entries = [entry for entry in current.get(entry_kind, []) if entry["file"] != file]
        current[entry_kind] = [
            *other_entries,
            {"id": f"captures/{name}", "file": file, "sha256": "", "origin": origin},
        ]
    manifest.save(current)


def main(names: Sequence[str]) -> None:
    if INSIDE in os.environ:
        record(names or list(SCENARIOS))
        return
    for version in (CURRENT, OLD):
        java_cache.classes(version, "Peer.java")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    inner = [sys.executable, "-m", "tests.support.captures.record", *names]
    subprocess.run(
        ["unshare", *user, "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *inner],
        check=True,
        env={**os.environ, INSIDE: "1"},
    )


if __name__ == "__main__":
    main(sys.argv[1:])
