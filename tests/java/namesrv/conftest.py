"""Peers that the interop tests share, because the start of a JVM costs seconds of a core."""

import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from tests.peers import cache as java_cache
from tests.peers import class_archive
from tests.peers.peers import CURRENT, MIDDLE, OLD, JavaBroker, JavaPeer
from tests.peers.shared_peers import have_here
from tests.support.name_servers import DEFAULT_KIND, NameServer, name_server


@dataclass(frozen=True, slots=True)
class Cluster:
    server: NameServer
    broker: JavaBroker


@pytest.fixture(scope="session", autouse=True)
def _end_in_order_on_sigterm() -> Iterator[None]:
    # Make SIGTERM unwind the fixtures as Ctrl-C does, so that no JVM is left.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, previous)


@pytest.fixture(scope="session")
def java() -> None:
    have_here(
        partial(java_cache.classes, CURRENT, "Peer.java"),
        partial(class_archive.record_broker, CURRENT),
    )


@pytest.fixture(scope="session")
def peer(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaPeer]:
    with JavaPeer(tmp_path_factory.mktemp("peer")) as running:
        yield running


@pytest.fixture(scope="session")
def peers(
    peer: JavaPeer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, JavaPeer]]:
    for release in (MIDDLE, OLD):
        have_here(
            partial(java_cache.classes, release, "Peer.java"),
            partial(class_archive.record_broker, release),
        )
    folder = tmp_path_factory.mktemp("peers")
    with (
        JavaPeer(folder / MIDDLE, version=MIDDLE) as middle,
        JavaPeer(folder / OLD, version=OLD) as old,
    ):
        yield {CURRENT: peer, MIDDLE: middle, OLD: old}


@pytest.fixture(scope="session")
def cluster(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # A name server with the defaults but for its port, and an unmodified 5.5.0 broker; tests leave both running.
    folder = tmp_path_factory.mktemp("cluster")
    server = name_server(DEFAULT_KIND, folder / "namesrv", {"bindAddress": "0.0.0.0"})
    broker = JavaBroker(folder / "broker", [server.address])
    with server, broker:
        broker.wait_registered(server.port)
        yield Cluster(server, broker)
