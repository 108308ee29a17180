"""The command ``mqnamesrv``: Java's options, texts, streams and exit statuses.

Rules of this file: nothing heavy is imported before the options are known, so that ``-h`` and
``-p`` are fast; stdout has the lines that scripts search for.

Java: ``NamesrvStartup``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rocketwire.program import reader_may_go
from rocketwire_namesrv.command_line import (
    CHECK_CONFIG,
    HELP,
    SAMPLE_CONFIG,
    USAGE,
    VERSION,
    UsageError,
    parse,
)

if TYPE_CHECKING:
    from rocketwire.serving.sockets import Listening
    from rocketwire_namesrv.config.config import Config
    from rocketwire_namesrv.runtime.configuration import Configured

FAILED: Final = 255
"""Exit status of a start that failed, and -1 in Java."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments; by default those of the process.

    Returns:
        The exit status: 0 after ``-h``, ``-p`` and a check without an error, 1 for a wrong command
        line and a check with errors, 255 where the server cannot start, 128 and the signal's number
        (143 for SIGTERM) after a signal.
    """
    try:
        options = parse(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        print(error, file=sys.stderr)
        with reader_may_go():
            print(USAGE, end="")
        return 1
    if not options.keys() - {"c", "n"}:
        return _start(options.get("c"))
    with reader_may_go():
        return _print(options)
    return 0


def _print(options: Mapping[str, str]) -> int:
    if "h" in options:
        print(HELP, end="")
        return 0
    if VERSION in options:
        from rocketwire import __version__

        print(__version__)
        return 0
    if SAMPLE_CONFIG in options:
        from rocketwire_namesrv.runtime.configuration import sample

        print(sample(), end="")
        return 0
    if CHECK_CONFIG in options:
        return _check(options[CHECK_CONFIG])
    return _start(options.get("c"), print_items="p" in options)


def _check(path: str) -> int:
    from rocketwire_namesrv.config_check import check_config

    findings = check_config(path, os.environ)
    for level, texts in (("error", findings.errors), ("warning", findings.warnings)):
        for text in texts:
            print(f"{level}: {text}")
    errors, warnings = len(findings.errors), len(findings.warnings)
    verdict = "cannot start" if errors else "can start"
    print(f"{path}: the name server {verdict}; {_format_counts(errors, warnings)}")
    return 1 if errors else 0


def _format_counts(errors: int, warnings: int) -> str:
    return ", ".join(
        f"{count} {level}{'' if count == 1 else 's'}"
        for count, level in ((errors, "error"), (warnings, "warning"))
    )


def _start(path: str | None, *, print_items: bool = False) -> int:
    from rocketwire.errors import IllegalValueError
    from rocketwire.os_errors import os_error_text
    from rocketwire_namesrv.runtime.configuration import load_configuration

    try:
        settings = load_configuration(path, os.environ)
    except (OSError, IllegalValueError) as error:
        return _cannot_start(os_error_text(error))
    if path is not None:
        print(f"load config properties file OK, {path}", flush=True)
    if print_items:
        return _print_items(settings)
    if settings.refusals:
        return _cannot_start(*settings.refusals)
    return _run(settings, path)


def _cannot_start(*reasons: str) -> int:
    for reason in reasons:
        print(f"the name server cannot start: {reason}", file=sys.stderr)
    return FAILED


def _print_items(settings: Configured) -> int:
    from rocketwire_namesrv.config.settings import Owner

    now = time.strftime("%Y-%m-%d %H:%M:%S")
    config = settings.config
    java = config.items(Owner.NAMESRV, Owner.SERVER, Owner.CLIENT)
    for name, value in (*java, *config.items(Owner.OURS)):
        print(f"{now} INFO main - {name}={value or ''}")
    sys.stdout.flush()
    for remark in settings.remarks:
        print(f"warning: {remark}", file=sys.stderr)
    return _cannot_start(*settings.refusals) if settings.refusals else 0


def _run(settings: Configured, path: str | None) -> int:
    import trio

    from rocketwire.serving.process_tuning import (
        allow_many_connections,
        give_memory_back,
        tune_garbage_collector,
    )
    from rocketwire.serving.sockets import BindError
    from rocketwire.serving.tls.certificates import TlsError
    from rocketwire.wire.values.frozen import compile_constructors
    from rocketwire_namesrv.config.config import ConfigError
    from rocketwire_namesrv.runtime import logging_setup
    from rocketwire_namesrv.runtime.storage import StorageError
    from rocketwire_namesrv.server.server import serve_until_signal

    config = settings.config
    try:
        log = logging_setup.set_up(os.environ.get("ROCKETWIRE_LOG", "file"), config.home)
    except ValueError as error:
        return _cannot_start(str(error))
    for remark in settings.remarks:
        logging_setup.LOGGER.warning("configuration: %s", remark)
    allow_many_connections()
    give_memory_back()
    compile_constructors()  # whatever is received, no code is made of anything from now on
    status = FAILED
    on_boot = _boot_reporter(config, log, path, tune_garbage_collector)
    try:
        status = 128 + trio.run(serve_until_signal, config, on_boot)
    except* (BindError, ConfigError, StorageError, TlsError) as group:
        _cannot_start(*map(str, group.exceptions))
    return status


def _boot_reporter(
    config: Config, log: str, path: str | None, tune_garbage_collector: Callable[[], None]
) -> Callable[[Listening, str], None]:
    from rocketwire_namesrv.runtime.logging_setup import LOGGER

    def on_boot(listening: Listening, status_page: str) -> None:
        line = (
            f"The Name Server boot success. serializeType={config.serialize_type.name}, "
            f"address {listening.address}:{listening.port}"
        )
        locations = (
            f"log: {log}; status page: {status_page or 'none'};"
            f" configuration file: {path or 'none, -c FILE sets one'}"
        )
        print(f"{line}\n{locations}", flush=True)
        LOGGER.info(line)
        LOGGER.info(locations)
        tune_garbage_collector()

    return on_boot


if __name__ == "__main__":
    sys.exit(main())
