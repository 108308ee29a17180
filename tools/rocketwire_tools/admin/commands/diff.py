"""``diff``: compares two name servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire.client import open_pool
from rocketwire.client.addresses import parse_name_servers
from rocketwire.client.admin.fanout import call_each
from rocketwire.client.net.nameservers import SingleNameServer
from rocketwire.errors import LocalProtocolError
from rocketwire_tools.admin import mqadmin_options as mq
from rocketwire_tools.admin.actions.snapshot import differences, take_snapshot
from rocketwire_tools.cli.command import CellType, Column, Command, Table, UsageError, columns

if TYPE_CHECKING:
    from rocketwire_tools.cli.command import Context

_EPILOG: Final = """\
One row for each difference; a cell is empty if a server does not have the item. Exit status 1 if
there are differences.

example:
  rocketwire-admin diff old:9876 new:9876 -o json
"""


async def _run(context: Context) -> Table:
    args = context.arguments
    addresses: list[str] = []
    for text in args.servers:
        try:
            (address,) = parse_name_servers(text)
        except (LocalProtocolError, ValueError) as error:
            raise UsageError(f"{text!r}: must be HOST:PORT") from error
        addresses.append(address)
    async with open_pool(context.config) as pool:
        servers = [SingleNameServer(pool, context.config, address) for address in addresses]
        snapshots = await call_each(range(2), lambda n: take_snapshot(servers[n], args.topic))
    rows = differences(snapshots[0], snapshots[1])
    names = addresses if addresses[0] != addresses[1] else ["first", "second"]
    headings = (*columns("kind name"), *(Column(name, CellType.VALUE) for name in names))
    return Table(headings, rows, failed=bool(rows))


COMMANDS: Final = (
    Command(name="diff", help="compare the responses of two name servers",
        options=(
            mq.argument("servers", "the two name servers", nargs=2, metavar="HOST:PORT"),
            mq.option("-t --topic", "compare only the route of this topic; repeatable",
                action="append")),
        run=_run, epilog=_EPILOG, group="looking around"),
)  # fmt: skip
