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
from rocketwire.program import ProgramParser, port
from rocketwire.serving.java_properties import load_properties, system_properties
from rocketwire.serving.tls.settings import TlsMode
from rocketwire_broker.config import (
    ANY_STATUS_PORT,
    STATUS_PORT,
    TLS_MODE,
    Config,
    read_settings,
    with_system,
)
from rocketwire_broker.tables.topics import new_topic

if TYPE_CHECKING:
    from rocketwire.messages.topic_config import TopicConfig

NAMESRV_PORT: Final = 9876
_DEFAULTS: Final = Config()
NAMESRV_VARIABLE: Final = "NAMESRV_ADDR"  # environment variable with name servers, as Java's
PORT_STEP: Final = 10  # difference between the ports of two brokers of one process
MAX_BROKERS: Final = 26
LOCAL: Final = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}  # noqa: S104 - compared, not bound
"""Address in routes instead of "all addresses", to which no client elsewhere can connect."""


_SIGNALS: Final = """\
exit status: 255 if it cannot start, 2 if the command line is invalid, 130 after SIGINT (Ctrl-C),
143 after SIGTERM"""

_DEV_EPILOG: Final = f"""\
examples:
  rocketwire dev
  rocketwire dev --store ./store --topics topics.toml
  rocketwire dev --port 0 --broker-port 0 --status-port -1

A line that begins with "ready:" appears when clients can use the broker.

{_SIGNALS}"""


def _broker_epilog(program: str) -> str:
    return f"""\
example:
  {program} -n '10.0.0.1:9876;10.0.0.2:9876' -c broker.conf

A line that begins with "ready:" appears when the broker is registered.

{_SIGNALS}"""


def main_parser() -> argparse.ArgumentParser:
    parser = ProgramParser(
        prog="rocketwire",
        description="Run RocketMQ for development and tests, without Java.",
        epilog="Each verb has its own help: rocketwire dev --help",
    )
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    text = "run a name server and a broker in one process"
    dev = verbs.add_parser(
        "dev",
        help=text,
        description=f"{text}.".capitalize()
        + "\n\nThe broker keeps messages in memory, unless --store names a folder. Do not use it in"
        "\nproduction: it has no slaves.",
        epilog=_DEV_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    dev.add_argument(
        "--port",
        type=port,
        default=NAMESRV_PORT,
        help="port of the name server; 0 takes a free one (default: %(default)s)",
    )
    _add_broker_options(dev)
    text = "run a broker that registers at other name servers"
    broker = verbs.add_parser(
        "broker",
        help=text,
        description=f"{text}.".capitalize(),
        epilog=_broker_epilog("rocketwire broker"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_own_options(broker)
    return parser


def broker_parser() -> argparse.ArgumentParser:
    parser = ProgramParser(
        prog="rocketwire-broker",
        description="Run a broker for development that registers at other name servers.",
        epilog=_broker_epilog("rocketwire-broker"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    _add_own_options(parser)
    return parser


def _add_own_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--namesrvAddr",
        metavar="ADDR",
        help="name servers: host:port;host:port (default: the environment variable NAMESRV_ADDR)",
    )
    _add_broker_options(parser)


def _add_broker_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-c",
        "--configFile",
        metavar="FILE",
        help="properties file with Java's names (broker.conf), limits as rocketwire.maxTopics"
        " included; options override it",
    )
    add(
        "--broker-port",
        type=port,
        metavar="PORT",
        help=f"port of the broker; 0 takes a free one (default: {_DEFAULTS.listen_port})",
    )
    add(
        "--host",
        metavar="ADDRESS",
        help="address to listen on, which routes contain too; 0.0.0.0 and :: listen on all"
        f" addresses, and routes contain 127.0.0.1 (default: {_DEFAULTS.bind_address})",
    )
    add(
        "--advertise",
        metavar="ADDRESS[:PORT]",
        help="address and port of the broker in routes, if clients need others",
    )
    add("--name", help=f"name of the broker (default: {_DEFAULTS.broker_name})")
    add(
        "--brokers",
        metavar="N|NAMES",
        help="run several brokers: their number, or their names as a,b or a:0,a:1 with ids; each"
        f" port is {PORT_STEP} above the one before (default: one broker)",
    )
    text = f"name of the cluster (default: {_DEFAULTS.cluster_name})"
    add("--cluster", metavar="NAME", help=text)
    add(
        "--topics",
        metavar="FILE",
        help="TOML file of topics that exist from the start; a send creates other topics",
    )
    add(
        "--store",
        metavar="DIR",
        help="folder that keeps messages, topics, groups and offsets in Java's formats; created if"
        " it is missing (default: memory)",
    )
    add(
        "--retain-bytes",
        type=int,
        metavar="BYTES",
        help="bytes of messages to keep; the oldest are deleted first (default:"
        f" {_DEFAULTS.retain_bytes}, which is 256 MiB; with --store no limit)",
    )
    add(
        "--retain-hours",
        type=float,
        metavar="HOURS",
        help=f"hours for which messages are kept (default: {_DEFAULTS.retain_hours:g})",
    )
    add(
        "--accounts",
        metavar="FILE",
        help="accounts and their permissions, in TOML, or in YAML as Java's plain_acl.yml"
        " (default: every request is allowed)",
    )
    add(
        "--tls",
        choices=[mode.value for mode in TlsMode],
        help="whether a connection may, must or must not begin with TLS (default: permissive,"
        " which is may)",
    )
    add(
        "--status-port",
        metavar="[ADDRESS:]PORT",
        help="port of the status page and of metrics, on 127.0.0.1 unless you name an address; 0"
        f" takes a free one, -1 opens none (default: {STATUS_PORT}, or a free one if it is in use)",
    )
    add(
        "--delay-levels",
        metavar="TEXT",
        help='delays of the levels as Java writes them, for example "1s 5s 10s 30s" (default:'
        " Java's 18 levels, 1s to 2h)",
    )


def read_options(options: argparse.Namespace) -> tuple[Config, list[str]]:
    """Return the settings of a command line, and unknown names in its properties file."""
    config, unknown = Config(observe_port=ANY_STATUS_PORT), list[str]()
    config = with_system(config, system_properties(os.environ))
    config = replace(config, namesrv_addr=os.environ.get(NAMESRV_VARIABLE, ""))
    if options.configFile:
        with open(options.configFile, "rb") as file:
            texts = load_properties(file.read())
        try:
            config, unknown = read_settings(config, texts)
        except IllegalValueError as error:
            raise IllegalValueError(f"{options.configFile}: {error}") from error
    changes: dict[str, Any] = {
        "listen_port": options.broker_port,
        "bind_address": options.host,
        **_parse_advertise(options.advertise or LOCAL.get(options.host, options.host)),
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
        raise IllegalValueError(
            "--retain-bytes and --retain-hours (fileReservedTime): must be positive"
        )
    return config, unknown


def _parse_advertise(text: str | None) -> dict[str, Any]:
    # IPv6 addresses have brackets if a port follows
    if text is None:
        return {}
    address, colon, port = text.rpartition(":")
    if not colon or _is_ipv6(text):
        return {"broker_ip": text}
    if not port.isdecimal() or (":" in address and not address.endswith("]")):
        raise IllegalValueError(f"--advertise {text}: must be ADDRESS or ADDRESS:PORT")
    return {"broker_ip": address, "advertised_port": int(port)}


def _is_ipv6(text: str) -> bool:
    from ipaddress import AddressValueError, IPv6Address

    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def _status_port(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    address, _, port = text.rpartition(":")
    if not port.removeprefix("-").isdecimal():
        raise IllegalValueError(f"--status-port {text}: must be PORT or ADDRESS:PORT")
    return {"observe_address": address.strip("[]") or None, "observe_port": int(port)}


def broker_configs(config: Config, brokers: str | None) -> list[Config]:
    """Return the settings of each broker of a process; ``brokers`` is the option of that name."""
    if brokers is None:
        return [config]
    if brokers.isdecimal():
        identities = _number_names(config.broker_name, int(brokers))
    else:
        identities = [_identity(text) for text in brokers.split(",")]
    if not 0 < len(identities) <= MAX_BROKERS or len(set(identities)) < len(identities):
        raise IllegalValueError(
            f"--brokers {brokers}: must be 1 to {MAX_BROKERS} different brokers"
        )
    return [
        replace(
            config,
            broker_name=name,
            broker_id=number,
            listen_port=_next_port(config.listen_port, index),
            advertised_port=_next_port(config.advertised_port, index),
            store_path=_own_folder(config.store_path, name, number),
        )
        for index, (name, number) in enumerate(identities)
    ]


def _own_folder(folder: str, name: str, number: int) -> str:
    return folder and os.path.join(folder, f"{name}-{number}" if number else name)


def _next_port(port: int, index: int) -> int:
    return port and port + PORT_STEP * index


def _number_names(name: str, count: int) -> list[tuple[str, int]]:
    stem = name.removesuffix("-a")
    return [(f"{stem}-{chr(ord('a') + index)}", 0) for index in range(min(count, MAX_BROKERS + 1))]


def _identity(text: str) -> tuple[str, int]:
    name, colon, number = text.strip().partition(":")
    if not name or (colon and not number.isdecimal()):
        raise IllegalValueError(
            f"--brokers: {text!r}: must be a name such as a, or a name and an id such as a:1"
        )
    return name, int(number or 0)


def read_topics(data: dict[str, Any]) -> list[TopicConfig]:
    """Return the topics of a TOML document: ``[topics.NAME]`` with queues, perm and order."""
    topics: list[TopicConfig] = []
    for name, values in _table(data.get("topics", {}), "topics").items():
        settings = _table(values, f"topics.{name}")
        queues = _number(settings.pop("queues", 4), f"topics.{name}.queues")
        perm = _number(settings.pop("perm", 6), f"topics.{name}.perm")
        order = bool(settings.pop("order", False))
        if settings:
            raise IllegalValueError(
                f"topics.{name}: unknown {', '.join(settings)}; there are queues, perm and order"
            )
        topics.append(new_topic(name, queues, perm, order=order))
    return topics


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise IllegalValueError(f"{where}: must be a table, such as [topics.orders]")
    return dict(cast("dict[str, Any]", value))


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise IllegalValueError(f"{where}: must be a number")
    return value
