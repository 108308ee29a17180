"""``python -m rocketwire_tools.exporter``, and the entry point of ``rocketwire-exporter``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import trio

from rocketwire.client.admin import open_admin
from rocketwire.controls import escape_lines
from rocketwire.errors import NoNameServerError
from rocketwire.program import log_to_stderr
from rocketwire.serving.sockets import BindError
from rocketwire_tools.cli import exit_status as statuses
from rocketwire_tools.cli.file_program import run_main
from rocketwire_tools.cli.settings import REQUEST_TIMEOUT, client_config, settings_of
from rocketwire_tools.cli.stdio import stopping
from rocketwire_tools.exporter.collection import collect
from rocketwire_tools.exporter.command_line import NAME, Options, build_parser, options_of
from rocketwire_tools.terminal import print_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire.client import ClientConfig

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, or those of the process; returns the exit status."""
    return run_main(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    arguments = build_parser().parse_args(argv)
    log_to_stderr(f"{NAME}: %(message)s", is_verbose=arguments.verbose)
    try:
        settings = settings_of(arguments, os.environ)
        timeout = float(settings.get("request-timeout", REQUEST_TIMEOUT))
        options = options_of(arguments, timeout)
        config = client_config(settings)
        if not config.namesrv_addr:
            raise NoNameServerError("no name server is configured")
        return trio.run(_print_once if options.once else _serve, config, options)
    except BaseExceptionGroup as group:
        return _status_of(statuses.first_error_of(group))
    except (*statuses.ERRORS, BindError, ImportError) as error:
        return _status_of(error)


def _status_of(error: BaseException) -> int:
    if isinstance(error, statuses.ERRORS):
        print_error(f"{NAME}: {statuses.line_of(error)}")
        return statuses.status_of(error)
    if isinstance(error, (BindError, ImportError)):
        needs = "" if isinstance(error, BindError) else "; pip install 'rocketwire[observe]'"
        print(f"{NAME}: {error}{needs}", file=sys.stderr)
        return statuses.REFUSED
    raise error


async def _print_once(config: ClientConfig, options: Options) -> int:
    from rocketwire_tools.exporter.exposition import gauges_text

    async with open_admin(config, within=options.request_timeout) as admin:
        samples = await collect(admin, options)
    text = gauges_text(samples).decode()
    sys.stdout.write(escape_lines(text) if sys.stdout.isatty() else text)
    families = ("rocketmq_exporter_up", "rocketmq_exporter_broker_up")
    is_complete = all(value for name in families for value in samples.values[name].values())
    return statuses.DONE if is_complete else statuses.UNREACHABLE


async def _serve(config: ClientConfig, options: Options) -> int:
    from rocketwire_tools.exporter.server import serve

    async with stopping() as stop, trio.open_nursery() as nursery:
        url = await nursery.start(serve, config, options)
        print(f"{NAME}: metrics at {url}metrics", file=sys.stderr, flush=True)
        await stop.requested.wait()
        nursery.cancel_scope.cancel()
    return statuses.DONE


if __name__ == "__main__":
    sys.exit(main())
