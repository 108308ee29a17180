"""Loads the state of a server when it starts, and builds the content of its KV file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocketwire.os_errors import os_error_text
from rocketwire_namesrv.protocol.state import State
from rocketwire_namesrv.routes.kv_config import KVConfig
from rocketwire_namesrv.routes.warm_start import WarmStart
from rocketwire_namesrv.runtime import storage
from rocketwire_namesrv.runtime.logging_setup import LOGGER

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config


def load_state(config: Config) -> State:
    # Reads files, so it blocks; an invalid KV file is a StorageError, an unreadable one a warning
    table = {}
    unread = False
    if config.kv_config_path:
        try:
            table = storage.load_kv(config.kv_config_path)
        except OSError as error:
            LOGGER.warning(
                "load KV config table exception, it starts empty: %s", os_error_text(error)
            )
            unread = True
    state = State(
        config,
        kv=KVConfig(table),
        allow_config_update=config.allow_config_update,
        warm_start=_warm_start(config),
    )
    state.kv_unread = unread
    return state


def kv_content(state: State) -> bytes:
    """Return the current content of the KV file.

    Raises:
        OSError: the file could not be read at the start, and must not be overwritten.
    """
    if state.kv_unread:
        raise OSError("the file could not be read at the start, it is not overwritten")
    return storage.kv_document(state.kv.document())


def _warm_start(config: Config) -> WarmStart:
    # without a file of known brokers nothing is waited for
    if config.warm_start_seconds <= 0 or not config.known_brokers_path:
        return WarmStart()
    try:
        brokers = storage.load_brokers(config.known_brokers_path)
    except (OSError, storage.StorageError) as error:
        LOGGER.warning("the list of known brokers cannot be read: %s", os_error_text(error))
        return WarmStart()
    return WarmStart(brokers, config.warm_start_seconds)
