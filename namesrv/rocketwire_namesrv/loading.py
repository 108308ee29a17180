"""What a server knows when it starts: its settings, and what is on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire_namesrv import storage
from rocketwire_namesrv.kv import KVConfig
from rocketwire_namesrv.logs import LOGGER
from rocketwire_namesrv.state import State

if TYPE_CHECKING:
    from rocketwire_namesrv.config import Config

__all__ = ["load_state"]


def load_state(config: Config) -> State:
    """Make the state of a server that starts now, with what is on disk; blocks.

    Raises:
        StorageError: the KV file is there and makes no sense.
    """
    table = {}
    if config.kv_config_path:
        try:
            table = storage.load_kv(config.kv_config_path)
        except OSError as error:
            LOGGER.warning("load KV config table exception, it starts empty: %s", error)
    return State(config, kv=KVConfig(table), allow_config_update=config.allow_config_update)
