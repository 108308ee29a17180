"""A broker with a folder and without sockets."""

from pathlib import Path
from typing import Any

from rocketwire_broker.config import Config
from rocketwire_broker.files.folder import StoreFolder
from tests.support.broker import START, BrokerAtHand


class BrokerWithFolder(BrokerAtHand):
    def __init__(self, root: Path, *, now: int = START, **settings: Any) -> None:
        super().__init__()
        self.now = now
        self._root = root
        sizes: dict[str, Any] = {"log_file_size": 1 << 20, "queue_file_size": 2_000}
        self._settings = sizes | settings
        self.folder = StoreFolder(Config(store_path=str(root), **self._settings))
        try:
            self.broker = self.folder.load(now)
        except BaseException:
            self.folder.release()
            raise

    def restart_after_kill(self, after: int = 0) -> "BrokerWithFolder":
        """Kill it; return the next broker with the folder, which starts after this time."""
        self.folder.release()
        return BrokerWithFolder(self._root, now=self.now + after, **self._settings)

    def restart(self, after: int = 0) -> "BrokerWithFolder":
        self.folder.close(self.now)
        return BrokerWithFolder(self._root, now=self.now + after, **self._settings)
