"""``--check-config``: the errors and warnings of a start, without starting.

Files are read and nothing is written; the certificate of the TLS test mode is created and discarded
if every connection would need it. No port is opened: only a start shows whether it is free.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from rocketwire.errors import IllegalValueError
from rocketwire.os_errors import os_error_text
from rocketwire.serving.http.port import missing_libraries
from rocketwire.serving.tls.certificates import TlsError
from rocketwire.serving.tls.contexts import check_files
from rocketwire_namesrv.admin_http.address_list import AddressListError, read_lists
from rocketwire_namesrv.config.access_control import find_exposure
from rocketwire_namesrv.config.warnings import prefix_with_location
from rocketwire_namesrv.runtime.address_file import MAX_READ
from rocketwire_namesrv.runtime.configuration import Configured, load_configuration
from rocketwire_namesrv.runtime.storage import StorageError, load_brokers, load_kv, read_start

if TYPE_CHECKING:
    from rocketwire_namesrv.config.config import Config


class Findings(NamedTuple):
    errors: tuple[str, ...]  #: the server would not start
    warnings: tuple[str, ...] = ()  #: it would start, but this looks wrong


def check_config(path: str, environment: Mapping[str, str]) -> Findings:
    """Check a configuration file, and the files that it names; blocks."""
    try:
        settings = load_configuration(path, environment)
    except (OSError, IllegalValueError) as error:
        return Findings((os_error_text(error),))
    errors, warnings = [*settings.refusals], [*settings.remarks]
    for check in (_check_addresses, _check_files, _check_tls):
        findings = check(settings)
        errors += findings.errors
        warnings += findings.warnings
    return Findings(tuple(errors), tuple(warnings))


def _check_addresses(settings: Configured) -> Findings:
    config, entries = settings.config, settings.entries
    errors: list[str] = []
    warnings: list[str] = []
    try:
        warnings += (event.text for event in find_exposure(config, _resolve(config.bind_address)))
    except (OSError, UnicodeError) as error:
        remark = f"bindAddress={config.bind_address}: {os_error_text(error)}"
        errors.append(prefix_with_location(remark, entries))
    if config.observe_port >= 0:
        findings = errors if config.observe_asked else warnings
        findings += (prefix_with_location(remark, entries) for remark in _check_observation(config))
    return Findings(tuple(errors), tuple(warnings))


def _check_observation(config: Config) -> Iterator[str]:
    if missing := missing_libraries():
        yield f"no port for operators (rocketwire.observePort): {missing}"
    try:
        _resolve(config.observe_address)
    except (OSError, UnicodeError) as error:
        yield f"rocketwire.observeAddress={config.observe_address}: {os_error_text(error)}"


def _resolve(host: str) -> str:
    addresses = socket.getaddrinfo(
        host or "localhost", 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    return str(addresses[0][4][0])


def _check_files(settings: Configured) -> Findings:
    config = settings.config
    errors: list[str] = []
    warnings: list[str] = []
    try:
        if config.kv_config_path:
            load_kv(config.kv_config_path)
    except StorageError as error:
        errors.append(str(error))
    except OSError as error:
        warnings.append(f"the KV configuration starts empty: {os_error_text(error)}")
    try:
        if config.warm_start_seconds > 0 and config.known_brokers_path:
            load_brokers(config.known_brokers_path)
    except (OSError, StorageError) as error:
        warnings.append(f"the list of known brokers cannot be read: {os_error_text(error)}")
    try:
        if config.address_server_file:
            read_lists(read_start(config.address_server_file, MAX_READ))
    except AddressListError as error:
        errors.append(f"{config.address_server_file}: {error}")
    except OSError as error:
        warnings.append(f"no lists of name servers are given out: {os_error_text(error)}")
    return Findings(tuple(errors), tuple(warnings))


def _check_tls(settings: Configured) -> Findings:
    try:
        remarks = check_files(settings.config.tls)
    except TlsError as error:
        return Findings((prefix_with_location(str(error), settings.entries),))
    return Findings((), tuple(prefix_with_location(remark, settings.entries) for remark in remarks))
