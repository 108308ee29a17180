"""``rocketwire-exporter --once`` inside the test."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rocketwire_tools.exporter.__main__ import main
from tests.support.admin_in_process import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

_COMPLETE = (
    "rocketmq_exporter_up",
    "rocketmq_exporter_broker_up",
    "rocketmq_exporter_part_complete",
)
"""Families of samples that are 1 if all is well."""

_OPENMETRICS: Any = import_module("prometheus_client.openmetrics.parser")  # without types


def openmetrics_families(text: str) -> Iterator[Metric]:
    families: Iterator[Metric] = _OPENMETRICS.text_string_to_metric_families(text)
    return families


class Scrape(NamedTuple):
    status: int
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float | None:
        """The value of the only sample of a family with these labels among others; None without one."""
        values = [
            value
            for (family, items), value in self.samples.items()
            if family == name and labels.items() <= dict(items).items()
        ]
        assert len(values) <= 1, (name, values)
        return values[0] if values else None

    def sum(self, name: str, **labels: str) -> float:
        return sum(
            value
            for (family, items), value in self.samples.items()
            if family == name and labels.items() <= dict(items).items()
        )

    def failures(self) -> list[str]:
        return [
            f"{name}{dict(labels)} {value}"
            for (name, labels), value in self.samples.items()
            if name == "rocketmq_exporter_failures" or (name in _COMPLETE and value == 0)
        ]

    def mentions(self, text: str) -> set[str]:
        """Names of the families of which a sample has a label with this text in it."""
        return {
            family for family, items in self.samples if any(text in value for _, value in items)
        }


def scrape(address: str, *options: str) -> Scrape:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", "nowhere")
        status = main(["-n", address, "--once", *options])
    return Scrape(
        status,
        {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(out.getvalue())
            for sample in family.samples
        },
    )
