"""The broker itself: its runtime values (28), its rates (315), its producers (328)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire_tools.exporter.families import (
    CAPACITY,
    DISTRIBUTION,
    PERIODS,
    RATES,
    RUNTIME,
    distribution_family,
    rate_family,
)

if TYPE_CHECKING:
    from rocketwire_tools.exporter.scrape import BrokerScrape

_CAPACITY: Final = re.compile(r"(Total|Free) : ([0-9.]+) ([A-Za-z]+)")
_CLASS: Final = re.compile(r"\[([^\]]+)\]:([0-9]+)")
_UNITS: Final = ("b", "kib", "mib", "gib", "tib", "pib", "eib")

_NOTHING_COUNTED: Final = ResponseCode.SYSTEM_ERROR


async def collect_runtime(scrape: BrokerScrape) -> None:
    """Add the runtime values of a broker, and its rates if it is a primary."""
    broker = scrape.broker
    values = await scrape.ask(partial(scrape.admin.brokers.runtime_info, broker.address))
    for family, value in runtime_values(values):
        scrape.samples.set(family, broker.labels, value)
    version = values.get("brokerVersionDesc", "unknown")
    number = values.get("brokerVersion", "")
    scrape.version = int(number) if number.isascii() and number.isdigit() else 0
    scrape.samples.set("rocketmq_exporter_broker_info", (*broker.labels, version), 1)
    if broker.is_primary:
        for family, name in (
            ("rocketmq_broker_tps", "BROKER_PUT_NUMS"),
            ("rocketmq_broker_qps", "BROKER_GET_NUMS"),
        ):
            rate = await minute_rate(scrape, name, broker.cluster)
            scrape.samples.set(family, broker.labels, rate)


async def collect_producers(scrape: BrokerScrape) -> None:
    """Add the number of producers of each group; brokers before 4.9.4 do not report it."""
    broker = scrape.broker
    try:
        producers = await scrape.ask(partial(scrape.admin.consumers.producers_of, broker.address))
    except BrokerError as error:
        if error.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            raise
        return
    for group, members in producers.items():
        scrape.samples.set("rocketmq_producer_count", broker.of(group), len(members))


async def minute_rate(scrape: BrokerScrape, name: str, key: str) -> float:
    """Return a statistic per second over a minute (code 315); 0 if nothing was counted."""
    return (await _minute(scrape, name, key))[0]


async def minute_sum(scrape: BrokerScrape, name: str, key: str) -> float:
    """Return the sum of a statistic over a minute (code 315); 0 if nothing was counted."""
    return (await _minute(scrape, name, key))[1]


async def _minute(scrape: BrokerScrape, name: str, key: str) -> tuple[float, float]:
    brokers = scrape.admin.brokers
    try:
        stats = await scrape.ask(partial(brokers.stats, scrape.broker.address, name, key))
    except BrokerError as error:
        if error.code != _NOTHING_COUNTED or "AclException" in error.remark:
            raise
        return 0.0, 0.0
    minute = stats.stats_minute
    return (0.0, 0.0) if minute is None else (minute.tps, minute.sum)


def runtime_values(values: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """Yield families and values of the runtime values of a broker.

    Values that a broker does not have, or that are not numbers, are left out.
    """
    for family, key in RUNTIME.items():
        yield from _number(family, values.get(key, ""))
    for word, keys in RATES.items():
        text = next((values[key] for key in keys if key in values), "")
        for period, rate in zip(PERIODS, text.split(), strict=False):
            yield from _number(rate_family(word, period), rate)
    for key, count in _CLASS.findall(values.get("putMessageDistributeTime", "")):
        if key in DISTRIBUTION:
            yield from _number(distribution_family(DISTRIBUTION[key]), count)
    sizes = {
        word: byte_count(number, unit)
        for word, number, unit in _CAPACITY.findall(values.get("commitLogDirCapacity", ""))
    }
    for family, word in CAPACITY.items():
        if (size := sizes.get(word)) is not None:
            yield family, size


def _number(family: str, text: str) -> Iterator[tuple[str, float]]:
    try:
        value = float(text.partition(" ")[0])
    except ValueError:
        return
    if math.isfinite(value):
        yield family, value


def byte_count(number: str, unit: str) -> float | None:
    """Return the bytes of a size as Java writes it (``MixAll.humanReadableByteCount``).

    Java writes ``GiB`` for powers of 1024, and ``GB`` for powers of 1000. None if it is invalid.
    """
    base = 1024 if "i" in unit else 1000
    power = unit.lower() if "i" in unit or unit == "B" else f"{unit[:1]}ib".lower()
    try:
        size: float = float(number) * base ** _UNITS.index(power)
    except ValueError:
        return None
    return size
