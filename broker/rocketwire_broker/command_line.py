"""The options of ``rocketwire dev`` and ``rocketwire-broker``; pure.

Rules of this file: importing it is cheap, so that ``--help`` is fast.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from rocketwire import __version__
from rocketwire.errors import IllegalValueError
from rocketwire_broker.config import (
    ANY_STATUS_PORT,
    STATUS_PORT,
    TLS_MODE,
    Config,
    read_settings,
    with_system,
)
from rocketwire_broker.tables.topics import new_topic
from rocketwire_namesrv.config.config import system_properties
from rocketwire_namesrv.config.java_properties import load_properties
from rocketwire_namesrv.config.tls_settings import TlsMode

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig

NAMESRV_PORT: Final = 9876
BROKER_PORT: Final = 10911
NAMESRV_VARIABLE: Final = "NAMESRV_ADDR"
"""Environment variable with name servers, as Java's."""
PORT_STEP: Final = 10
"""Difference between the ports of two brokers of one process."""
MOST_BROKERS: Final = 26
LOCAL: Final = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 - compared, not bound
"""What clients are told instead of "all addresses", to which no client elsewhere can connect."""


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
        prog="rocketwire-broker", description="Run a broker for development."
    )
    parser.add_argument("--version", action="version", version=__version__)
    _add_own_options(parser)
    return parser


def _add_own_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--namesrvAddr",
        help="name servers as host:port;host:port; default: the variable NAMESRV_ADDR",
    )
    _add_broker_options(parser)


def _add_broker_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-c", "--configFile", help="properties file with Java's names (broker.conf)")
    add("--broker-port", type=int, help=f"of the broker, {BROKER_PORT} by default; 0: any")
    add(
        "--host",
        help="address to listen on, and that clients are told; 127.0.0.1 by default; for 0.0.0.0"
        " and :: clients are told 127.0.0.1",
    )
    add(
        "--advertise",
        metavar="ADDRESS[:PORT]",
        help="address and port that clients are told, if they are others",
    )
    add("--name", help="name of the broker; broker-a by default")
    add(
        "--brokers",
        metavar="N|NAMES",
        help="several brokers in this process: their number, or their names as a,b or a:0,a:1 with"
        f" ids; each port is {PORT_STEP} above the one before",
    )
    add("--cluster", help="name of the cluster; DefaultCluster by default")
    add("--topics", metavar="FILE", help="TOML file of topics that exist from the start")
    add("--store", metavar="DIR", help="folder that keeps everything, in Java's formats")
    add("--retain-bytes", type=int, help="bytes of messages that are kept; 256 MiB by default")
    add("--retain-hours", type=float, help="hours that messages are kept; 72 by default")
    add(
        "--accounts",
        metavar="FILE",
        help="file of accounts (TOML, or YAML as Java's plain_acl.yml); every request may be sent"
        " without one",
    )
    add(
        "--tls",
        choices=[mode.value for mode in TlsMode],
        help="whether connections may (permissive, the default), must or must not begin with TLS",
    )
    add(
        "--status-port",
        metavar="[ADDRESS:]PORT",
        help=f"of the status page and metrics, on 127.0.0.1; {STATUS_PORT}, or a free one if it is"
        " in use, by default; -1: none",
    )
    add("--delay-levels", help='delays as Java writes them: "1s 5s 10s 30s"')


def configured(options: argparse.Namespace) -> tuple[Config, list[str]]:
    """Return the settings of a command line, and unknown names in its properties file.

    Raises:
        IllegalValueError: a value is invalid.
        OSError: the properties file cannot be read.
    """
    config, unknown = Config(observe_port=ANY_STATUS_PORT), list[str]()
    config = with_system(config, system_properties(os.environ))
    config = replace(config, namesrv_addr=os.environ.get(NAMESRV_VARIABLE, ""))
    if options.configFile:
        with open(options.configFile, "rb") as file:
            config, unknown = read_settings(config, load_properties(file.read()))
    changes: dict[str, Any] = {
        "listen_port": options.broker_port,
        "bind_address": options.host,
        **_advertised(options.advertise or LOCAL.get(options.host, options.host)),
        "broker_name": options.name,
        "cluster_name": options.cluster,
        "retain_bytes": options.retain_bytes,
        "store_retain_bytes": options.retain_bytes,
        "store_path": options.store,
        "retain_hours": options.retain_hours,
        "delay_levels": options.delay_levels,
        "accounts_file": options.accounts,
        **_status_port(options.status_port),
        "namesrv_addr": getattr(options, "namesrvAddr", None),
    }
    config = replace(
        config, **{name: value for name, value in changes.items() if value is not None}
    )
    if options.tls:
        config = with_system(config, {TLS_MODE: options.tls})
    config.delays_ms()
    if not (config.retain_bytes > 0 and config.store_retain_bytes >= 0 and config.retain_hours > 0):
        raise IllegalValueError("bytes and hours that messages are kept must be positive")
    return config, unknown


def _advertised(text: str | None) -> dict[str, Any]:
    """Return the address for clients; IPv6 addresses have brackets if a port follows."""
    if text is None:
        return {}
    address, colon, port = text.rpartition(":")
    if not colon or (":" in address and not address.endswith("]")):
        return {"broker_ip": text}
    if not port.isdecimal():
        raise IllegalValueError(f"--advertise {text}: not an address, or an address and a port")
    return {"broker_ip": address, "advertised_port": int(port)}


def _status_port(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    address, _, port = text.rpartition(":")
    if not port.removeprefix("-").isdecimal():
        raise IllegalValueError(f"--status-port {text}: not a port, or an address and a port")
    return {"observe_address": address.strip("[]") or None, "observe_port": int(port)}


def broker_configs(config: Config, brokers: str | None) -> list[Config]:
    """Return the settings of each broker of a process.

    Args:
        config: the settings of all.
        brokers: the option: a number, or names with optional ids, or None for one broker.

    Raises:
        IllegalValueError: it is neither, or names the same broker twice.
    """
    if brokers is None:
        return [config]
    if brokers.isdecimal():
        identities = _numbered(config.broker_name, int(brokers))
    else:
        identities = [_identity(text) for text in brokers.split(",")]
    if not 0 < len(identities) <= MOST_BROKERS or len(set(identities)) < len(identities):
        raise IllegalValueError(f"--brokers {brokers}: 1 to {MOST_BROKERS} different brokers")
    return [
        replace(
            config,
            broker_name=name,
            broker_id=number,
            listen_port=_further(config.listen_port, index),
            advertised_port=_further(config.advertised_port, index),
            store_path=_own_folder(config.store_path, name, number),
        )
        for index, (name, number) in enumerate(identities)
    ]


def _own_folder(folder: str, name: str, number: int) -> str:
    """Return the folder of one of several brokers, below that of all."""
    return folder and os.path.join(folder, f"{name}-{number}" if number else name)


def _further(port: int, index: int) -> int:
    return port and port + PORT_STEP * index


def _numbered(name: str, count: int) -> list[tuple[str, int]]:
    """Return the names of several brokers: ``broker-a``, ``broker-b`` and so on."""
    stem = name.removesuffix("-a")
    return [(f"{stem}-{chr(ord('a') + index)}", 0) for index in range(min(count, MOST_BROKERS + 1))]


def _identity(text: str) -> tuple[str, int]:
    name, colon, number = text.strip().partition(":")
    if not name or (colon and not number.isdecimal()):
        raise IllegalValueError(f"--brokers: {text!r} is not a name, or a name and an id as a:1")
    return name, int(number or 0)


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
