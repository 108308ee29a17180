"""The data source as Spark calls it, without Spark."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install rocketwire[spark]")


def source(**options: str) -> Any:
    from pyspark_rocketmq import DefaultSource

    return DefaultSource(options)


def test_it_has_the_name_that_is_documented() -> None:
    assert source().name() == "rocketmq"
