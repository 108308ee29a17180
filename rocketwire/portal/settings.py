"""Settings of a facade: a config, keyword settings, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rocketwire.client.arguments import check_config, wrong_type
from rocketwire.client.config import ClientConfig, to_config
from rocketwire.errors import IllegalTypeError
from rocketwire.nearest import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")


def apply_settings(
    client: object, config: Config | None, config_class: type[Config], settings: Mapping[str, Any]
) -> tuple[object, Config]:
    """Return the client and the config of a producer or consumer, changed by keyword settings.

    Args:
        client: an open client, settings or name servers; None for settings of the environment.
        config: settings of the producer or consumer, or None.
        config_class: class of ``config``.
        settings: attributes of ``ClientConfig`` or ``config_class``.

    Raises:
        IllegalTypeError: a setting is unknown; or it belongs to a client that is open already.
        IllegalValueError: a setting has an invalid value.
    """
    check_config(config, config_class)
    _check_names(settings, ClientConfig, config_class)
    names = {field.name for field in fields(config_class)}
    changes = {name: value for name, value in settings.items() if name in names}
    of_client = {name: value for name, value in settings.items() if name not in names}
    if config is None:
        config = config_class(**changes)
    elif changes:
        config = replace(config, **changes)
    return apply_client_settings(client, of_client), config


def apply_client_settings(client: object, settings: Mapping[str, Any]) -> object:
    """Return a client, or settings of one, changed by keyword settings; see ``apply_settings``."""
    _check_names(settings, ClientConfig)
    if client is None:
        client = ClientConfig.from_env()
    if not settings:
        return client
    if not isinstance(client, (str, ClientConfig)):
        names = ", ".join(settings)
        raise wrong_type("client", f"settings or name servers, because of {names}", client)
    return replace(to_config(client), **settings)


_OTHER_NAMES: Final = {
    "timeout": ("send_msg_timeout", "consume_timeout", "mq_client_api_timeout"),
    "concurrency": ("consume_thread_max",),
    "access_key": ("credentials",),
    "secret_key": ("credentials",),
    "name_servers": ("namesrv_addr",),
}
"""Settings that other libraries name otherwise."""


def _check_names(settings: Mapping[str, Any], *classes: type[Any]) -> None:
    names = [field.name for config_class in classes for field in fields(config_class)]
    for name in settings:
        if name not in names:
            others = [other for other in _OTHER_NAMES.get(name, ()) if other in names]
            hint = did_you_mean(others[0] if others else name, names, count=1 if others else 3)
            raise IllegalTypeError(f"{name}: there is no such setting{hint}")


def reopens(client: object) -> bool:
    """Return whether a client with these settings opens itself again in a fork."""
    if isinstance(client, ClientConfig):
        return client.reopen_after_fork
    return bool(getattr(client, "reopens_after_fork", False))
