"""``info``: what members of groups noted about themselves.  ``test_cli`` has the rest."""

from pathlib import Path

from rocketwire_tools.store.opened import OpenedStore
from rocketwire_tools.store.verbs.info import describe
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import OpenStore, unpack


def test_broker_of_a_controller_is_described(open_store: OpenStore) -> None:
    report = describe(OpenedStore([open_store(CURRENT, "controller").root]))

    assert report["epochs"] == ["1 from offset 0"]
    assert report["identity"] == "DefaultCluster, broker-a, 1"


def test_epochs_are_read_from_the_copy_if_the_file_is_broken(tmp_path: Path) -> None:
    root = unpack(CURRENT, "controller", tmp_path).root
    file = root / "epochFileCheckpoint"
    file.rename(root / "epochFileCheckpoint.bak")
    file.write_bytes(bytes(10))
    (root / "brokerIdentity").write_bytes(b"nobody")

    report = describe(OpenedStore([root]))

    assert report["epochs"] == ["1 from offset 0"]
    assert report["identity"] is None
