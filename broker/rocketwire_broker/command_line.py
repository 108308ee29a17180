"""The options of ``rocketwire dev`` and ``rocketwire-broker``; pure.

Rules of this file: importing it is cheap, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire import __version__
from rocketwire.errors import IllegalValueError
from rocketwire_broker.config import Config, read_settings
from rocketwire_broker.tables.topics import new_topic
from rocketwire_namesrv.config.java_properties import load_properties

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig

NAMESRV_PORT: Final = 9876
BROKER_PORT: Final = 10911


def main_parser() -> argparse.ArgumentParser:
    """Return the parser of ``rocketwire``."""
    parser = argparse.ArgumentParser(prog="rocketwire", description="RocketMQ for development.")
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    text = "run a name server and a broker in one process"
    dev = verbs.add_parser("dev", help=text, description=f"{text}.".capitalize())
    dev.add_argument("--port", type=int, default=NAMESRV_PORT, help="of the name server; 0: any")
    _add_broker_options(dev)
    text = "run a broker that registers at other name servers"
    _add_own_options(verbs.add_parser("broker", help=text, description=f"{text}.".capitalize()))
    return parser


def broker_parser() -> argparse.ArgumentParser:
    """Return the parser of ``rocketwire-broker``, which has Java's options."""
    parser = argparse.ArgumentParser(
        prog="rocketwire-broker", description="Run a broker for development, messages in memory."
    )
    parser.add_argument("--version", action="version", version=__version__)
    _add_own_options(parser)
    return parser


def _add_own_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--namesrvAddr", help="name servers as host:port;host:port")
    _add_broker_options(parser)


def _add_broker_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-c", "--configFile", help="properties file with Java's names (broker.conf)")
    add("--broker-port", type=int, help=f"of the broker, {BROKER_PORT} by default; 0: any")
    add("--host", help="address to listen on, and that clients are told; 127.0.0.1 by default")
    add("--advertise", metavar="ADDRESS", help="address that clients are told, if it is another")
    add("--name", help="name of the broker; broker-a by default")
    add("--cluster", help="name of the cluster; DefaultCluster by default")
    add("--topics", metavar="FILE", help="TOML file of topics that exist from the start")
    add("--store", metavar="DIR", help="folder that keeps everything, in Java's formats")
    add("--retain-bytes", type=int, help="bytes of messages that are kept; 256 MiB by default")
    add("--retain-hours", type=float, help="hours that messages are kept; 72 by default")
    add("--delay-levels", help='delays as Java writes them: "1s 5s 10s 30s"')


def configured(options: argparse.Namespace) -> tuple[Config, list[str]]:
    """Return the settings of a command line, and unknown names in its properties file.

    Raises:
        IllegalValueError: a value is invalid.
        OSError: the properties file cannot be read.
    """
    config, unknown = Config(), list[str]()
    if options.configFile:
        with open(options.configFile, "rb") as file:
            config, unknown = read_settings(config, load_properties(file.read()))
    changes: dict[str, Any] = {
        "listen_port": options.broker_port,
        "bind_address": options.host,
        "broker_ip": options.advertise or options.host,
        "broker_name": options.name,
        "cluster_name": options.cluster,
        "retain_bytes": options.retain_bytes,
        "store_retain_bytes": options.retain_bytes,
        "store_path": options.store,
        "retain_hours": options.retain_hours,
        "delay_levels": options.delay_levels,
        "namesrv_addr": getattr(options, "namesrvAddr", None),
    }
    config = replace(
        config, **{name: value for name, value in changes.items() if value is not None}
    )
    config.delays_ms()
    return config, unknown


def read_topics(data: dict[str, Any]) -> list[TopicConfig]:
    """Return the topics of a TOML document: ``[topics.NAME]`` with queues, perm and order.

    Raises:
        IllegalValueError: another key, or a value of another type.
    """
    topics: list[TopicConfig] = []
    for name, values in _table(data.get("topics", {}), "topics").items():
        settings = _table(values, f"topics.{name}")
        queues = _number(settings.pop("queues", 4), f"topics.{name}.queues")
        perm = _number(settings.pop("perm", 6), f"topics.{name}.perm")
        order = bool(settings.pop("order", False))
        if settings:
            raise IllegalValueError(f"topics.{name}: {', '.join(settings)} is no setting of topics")
        topics.append(new_topic(name, queues, perm, order=order))
    return topics


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise IllegalValueError(f"{where} is not a table")
    return dict(cast("dict[str, Any]", value))


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise IllegalValueError(f"{where} is not a number")
    return value
