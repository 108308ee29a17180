"""The commands ``rocketwire`` (verbs ``dev`` and ``broker``) and ``rocketwire-broker``."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.errors import IllegalValueError, RocketWireError
from rocketwire.os_errors import os_error_text
from rocketwire.program import log_to_stderr
from rocketwire_broker.command_line import (
    broker_configs,
    broker_parser,
    main_parser,
    read_options,
    read_topics,
)

if TYPE_CHECKING:
    import argparse

    from rocketwire.messages.topic_config import TopicConfig
    from rocketwire_broker.config import Config
    from rocketwire_broker.server.server import BrokerServer

FAILED: Final = 255  # exit status of a start that failed, and -1 in Java


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``rocketwire``.

    Returns:
        The exit status: 255 if it cannot start, 128 and the signal's number after a signal.
    """
    options = main_parser().parse_args(argv)
    return _run(options, name_server_port=options.port if options.verb == "dev" else None)


def broker(argv: Sequence[str] | None = None) -> int:
    """Run ``rocketwire-broker``; the exit status is that of ``main``."""
    return _run(broker_parser().parse_args(argv), name_server_port=None)


def _run(options: argparse.Namespace, name_server_port: int | None) -> int:
    log_to_stderr("%(asctime)s %(levelname)s %(message)s")
    try:
        config, unknown = read_options(options)
        configs = broker_configs(config, options.brokers)
        topics = _topics(options.topics)
    except (OSError, ValueError, RocketWireError) as error:
        return _cannot_start(error)
    if unknown:
        names = ", ".join(unknown)
        print(f"warning: {options.configFile}: no effect here: {names}", file=sys.stderr)
    return _serve(configs, topics, name_server_port)


def _topics(path: str | None) -> list[TopicConfig]:
    if path is None:
        return []
    with open(path, "rb") as file:
        try:
            return read_topics(tomllib.load(file))
        except (ValueError, RocketWireError) as error:
            raise IllegalValueError(f"{path}: {error}") from error


def _serve(configs: list[Config], topics: list[TopicConfig], name_server_port: int | None) -> int:
    import trio

    from rocketwire.serving.process_tuning import allow_many_connections, tune_garbage_collector
    from rocketwire.serving.tls.certificates import TlsError
    from rocketwire_broker.server.programs import run_brokers

    allow_many_connections()

    def on_ready(servers: list[BrokerServer], status_page: str) -> None:
        lines = [f"status page: {status_page}"] if status_page else []
        for server in servers:
            broker = server.broker
            name_server = broker.config.namesrv_addr or "none"
            name = broker.config.broker_name
            lines.append(f"ready: name server {name_server}, broker {name} at {broker.address}")
        print("\n".join(lines), flush=True)
        tune_garbage_collector()

    try:
        return 128 + trio.run(run_brokers, configs, topics, on_ready, name_server_port)
    except* (TlsError, RocketWireError, OSError) as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
    return _cannot_start(error)


def _cannot_start(error: BaseException) -> int:
    reason = os_error_text(error) if isinstance(error, Exception) else str(error)
    print(f"the broker cannot start: {' '.join(reason.split())}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
