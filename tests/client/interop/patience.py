"""Settings for clients of real servers on a machine that is busy."""

from __future__ import annotations

from typing import Any

from rocketwire.client import ClientConfig

PATIENCE = 60.0
"""Seconds for a call that Java's limits give three."""


def patient(**settings: Any) -> ClientConfig:
    """A client's settings with limits that a busy machine keeps."""
    limits: dict[str, Any] = {"mq_client_api_timeout": PATIENCE, "connect_timeout": PATIENCE}
    return ClientConfig(**{**limits, **settings})
