"""A store and its truth on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.stores.truth import Truth, load

TRUTH: Final = "truth.json"
SLAVE: Final = "slave"


@dataclass(frozen=True, slots=True)
class BrokerStore:
    root: Path  #: the folder that the broker had as ``storePathRootDir``; read it only
    truth: Truth  #: the responses to producers, and those of a live broker to questions
    slave: "BrokerStore | None" = None


def open_folder(folder: Path) -> BrokerStore:
    slave = folder / SLAVE
    return BrokerStore(
        folder / "store", load(folder / TRUTH), open_folder(slave) if slave.is_dir() else None
    )
