"""Records what goes over the loopback interface, without tcpdump: a raw socket and a pcap file.

It needs the right to open raw sockets, which a process has that is root in its own network
namespace (``unshare --net``).
"""

import ctypes
import fcntl
import socket
import struct
import threading
from pathlib import Path
from typing import Self

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
