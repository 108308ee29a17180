"""Reads the configuration of a start from file and environment, with errors and warnings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from rocketwire.serving.java_properties import load_config, system_properties
from rocketwire_namesrv.config.config import Config
from rocketwire_namesrv.config.warnings import config_remarks


class Configured(NamedTuple):
    config: Config  #: the values in effect
    entries: Mapping[str, str]  #: pairs of the file; empty without one
    refusals: tuple[str, ...]  #: errors that prevent the start; one line each
    remarks: tuple[str, ...]  #: warnings; one line each


def load_configuration(path: str | None, environment: Mapping[str, str]) -> Configured:
    """Read the configuration of a process.

    Args:
        path: of the configuration file; None for none.
        environment: environment variables.

    Raises:
        OSError: the file cannot be read.
        IllegalValueError: it is not a properties text.
    """
    entries: Mapping[str, str] = {} if path is None else load_config(path)
    refusals: list[str] = []
    config = Config.load(
        entries,
        home=os.path.expanduser("~"),
        config_path=path,
        environment=environment,
        processors=os.cpu_count() or 1,
        refusals=refusals,
    )
    remarks = config_remarks(config, entries, system_properties(environment))
    return Configured(config, entries, tuple(refusals), remarks)


def sample() -> str:
    """Return a configuration file that explains every setting of this server, with its default."""
    return files("rocketwire_namesrv").joinpath("sample.properties").read_text("ascii")
