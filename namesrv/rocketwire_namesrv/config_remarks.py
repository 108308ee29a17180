"""What an operator may have meant otherwise than it is taken, in a configuration file.

Java says nothing of any of these.  What they lead to is as in Java; the log says it at the start.

Rules of this file: pure; one text for each, without the values of settings that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rocketwire_namesrv.config import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocketwire_namesrv.config import Config, Property

__all__ = ["config_remarks"]

OURS: Final = "rocketwire."
"""How the keys begin that are this server's alone."""

_BY_KEY: Final = {each.key: each for each in PROPERTIES}
_BY_LETTERS: Final = {each.key.lower(): each.key for each in PROPERTIES}


def config_remarks(config: Config) -> tuple[str, ...]:
    """The remarks on the file that a configuration was made of, and on what it asks for in vain."""
    return (*_on_entries(config), *_on_features(config))


def _on_entries(config: Config) -> Iterator[str]:
    for key, text in config.file_entries.items():
        each = _BY_KEY.get(key)
        if each is not None:
            yield from _on_value(config, each, text)
        elif (meant := _BY_LETTERS.get(key.lower())) is not None:
            yield f"{key} is no setting; it would be {meant}"
        elif key.startswith(OURS):
            yield f"{key} is no setting"
    if (
        config.file_entries.get("configStorePath", config.config_store_path)
        != config.config_store_path
    ):
        yield "configStorePath counts for nothing here: it is the file given with -c"


def _on_value(config: Config, each: Property, text: str) -> Iterator[str]:
    if each.kind is bool and text.lower() not in {"true", "false"}:
        yield f"{each.key}={text!r} is taken for false: it is not the word true"
    elif each.kind is int and each.value_of(text) is None:
        kept = getattr(config, each.attribute)
        yield f"{each.key}={text!r} is no number that fits; it stays {kept}"


def _on_features(config: Config) -> Iterator[str]:
    if config.enable_controller_in_namesrv:
        yield "enableControllerInNamesrv: there is no controller in this name server; run Java's beside it"
    if config.cluster_test:
        yield (
            "clusterTest: every request is taken for one for a route, brokers cannot register; the"
            f" name server of {config.product_env_name} is not asked"
        )
