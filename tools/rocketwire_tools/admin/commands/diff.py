"""``diff``: what two name servers answer differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from rocketwire.client import open_pool
from rocketwire.client.addresses import parse_name_servers
from rocketwire.client.net.nameservers import SingleNameServer
from rocketwire.errors import LocalProtocolError
from rocketwire_tools.admin.actions.snapshot import Snapshot, differences, take_snapshot
from rocketwire_tools.admin.command import Column, Command, Kind, Table, UsageError

if TYPE_CHECKING:
    import argparse

    from rocketwire_tools.admin.command import Context

_EPILOG: Final = """\
A row for each difference; what one of them does not know at all is empty there.  Exit status 1 if there is any.

example:
  rocketwire-admin diff old:9876 new:9876 -o json
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("servers", nargs=2, metavar="HOST:PORT", help="the two name servers")
    parser.add_argument(
        "-t", "--topic", action="append", help="compare the route of this topic only; repeatable"
    )


async def _run(context: Context) -> Table:
    wanted = context.arguments
    addresses: list[str] = []
    for text in wanted.servers:
        try:
            (address,) = parse_name_servers(text)
        except (LocalProtocolError, ValueError) as error:
            raise UsageError(f"{text!r} is not one HOST:PORT") from error
        addresses.append(address)
    found: dict[int, Snapshot] = {}

    async with open_pool(context.config) as pool, trio.open_nursery() as nursery:

        async def ask(number: int) -> None:
            server = SingleNameServer(pool, context.config, addresses[number])
            found[number] = await take_snapshot(server, wanted.topic)

        for number in range(2):
            nursery.start_soon(ask, number)
    rows = differences(found[0], found[1])
    headings = addresses if addresses[0] != addresses[1] else ["first", "second"]
    columns = [Column("kind"), Column("name"), *(Column(one, Kind.VALUE) for one in headings)]
    return Table(columns, rows, failed=bool(rows))


COMMANDS: Final = (
    Command(
        name="diff",
        help="tell what two name servers answer differently",
        add_arguments=_arguments,
        run=_run,
        epilog=_EPILOG,
        group="looking around",
    ),
)
