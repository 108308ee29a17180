"""Settings for clients of real servers on a machine that is busy."""

from typing import Any

from rocketwire.client import ClientConfig, ProducerConfig

PATIENCE = 120.0
"""Timeout in seconds for calls with a Java timeout of three, and for delays of a real server."""


def patient(**settings: Any) -> ClientConfig:
    limits: dict[str, Any] = {"mq_client_api_timeout": PATIENCE, "connect_timeout": PATIENCE}
    return ClientConfig(**{**limits, **settings})


def patient_producer(**settings: Any) -> ProducerConfig:
    limits: dict[str, Any] = {"send_msg_timeout": PATIENCE}
    return ProducerConfig(**{**limits, **settings})
