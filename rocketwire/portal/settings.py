"""Settings of a facade: a config, keyword settings, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from rocketwire.client.arguments import check_config, check_setting_names, wrong_type
from rocketwire.client.config import ClientConfig, to_config

Config = TypeVar("Config")


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
    own = {name: value for name, value in settings.items() if _has(config_class, name)}
    result = config if config is not None else config_class(**own)
    if config is not None and own:
        changed: Any = replace(cast("Any", config), **own)
        result = cast("Config", changed)
    rest = {name: value for name, value in settings.items() if name not in own}
    return apply_client_settings(client, rest), result


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


def _check_names(settings: Mapping[str, Any], *classes: type[Any]) -> None:
    names = [field.name for config_class in classes for field in fields(config_class)]
    check_setting_names(settings, names)


def _has(config_class: type[Any], name: str) -> bool:
    return any(field.name == name for field in fields(config_class))


def reopens(client: object) -> bool:
    """Return whether a client with these settings opens itself again in a fork."""
    if isinstance(client, ClientConfig):
        return client.reopen_after_fork
    return bool(getattr(client, "reopens_after_fork", False))
