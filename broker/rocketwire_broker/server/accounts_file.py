"""The file of accounts: read at the start, and again whenever it has changed.

Java: ``PlainPermissionManager.watch`` of 4.9.4.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

import trio

from rocketwire.errors import IllegalValueError
from rocketwire_broker.access.access import Access
from rocketwire_broker.access.accounts import Account, Accounts, read_accounts

if TYPE_CHECKING:
    from rocketwire_broker.config import Config
    from rocketwire_broker.state.broker import Broker

LOGGER: Final = logging.getLogger("rocketwire.broker")

_QUOTED: Final = re.compile(r"'[^'<]{2,}'")

WATCH_SECONDS: Final = 0.5  # time between two checks of the file; Java's number


def load_access(config: Config) -> Access | None:
    """Return the accounts of the settings; None if every request may be sent."""
    accounts = _load(config.accounts_file) if config.accounts_file else None
    first = _first_account(config.initial_user) if config.initial_user else None
    if accounts is None and first is None:
        if config.access_required:
            raise IllegalValueError(
                "access control is asked for: name a file of accounts (--accounts,"
                " rocketwire.accountsFile)"
            )
        return None
    by_key = {} if accounts is None else dict(accounts.by_key)
    if first is not None:
        by_key.setdefault(first.access_key, first)
    trusted = () if accounts is None else accounts.trusted
    return Access(Accounts(by_key=by_key, trusted=trusted))


def _load(path: str) -> Accounts:
    with open(path, "rb") as file:
        data = file.read()
    try:
        return read_accounts(_parse(data, path))
    except ValueError as error:
        raise IllegalValueError(f"{path}: {error}") from error


def _parse(data: bytes, path: str) -> object:
    if not path.endswith((".yml", ".yaml")):
        return tomllib.loads(data.decode())
    try:
        import yaml
    except ImportError as error:
        raise IllegalValueError("YAML needs a package: pip install 'rocketwire[acl]'") from error
    try:
        return yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise IllegalValueError(_describe(error)) from None


def _describe(error: Any) -> str:
    # PyYAML's own text shows the lines around the error, and with them secrets
    mark = getattr(error, "problem_mark", None)
    problem = _QUOTED.sub("a word", getattr(error, "problem", None) or "it is no YAML")
    return problem if mark is None else f"{problem}, line {mark.line + 1}"


def _first_account(text: str) -> Account:
    try:
        user: Any = json.loads(text)
        return Account(
            access_key=str(user["username"]), secret_key=str(user["password"]), is_admin=True
        )
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise IllegalValueError(
            f"initAuthenticationUser: must be JSON with username and password ({problem})"
        ) from None


async def watch_accounts(broker: Broker) -> None:
    """Read the file again whenever it has changed; a bad one is not used."""
    path = broker.config.accounts_file
    latest = _changed(path)
    while path:
        await trio.sleep(WATCH_SECONDS)
        changed = _changed(path)
        if changed == latest:
            continue
        latest = changed
        try:
            broker.access = load_access(broker.config)
        except (OSError, ValueError) as error:
            LOGGER.warning("the accounts of before stay in use: %s", error)
        else:
            LOGGER.info("the accounts of %s are in use", path)


def _changed(path: str) -> tuple[int, int] | None:
    if not path:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
