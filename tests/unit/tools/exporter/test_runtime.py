"""The broker itself: runtime values as Java writes them."""

import pytest

from rocketwire.codes import ResponseCode
from rocketwire.errors import BrokerError
from rocketwire_tools.exporter.parts import (
    byte_count,
    collect_producers,
    collect_runtime,
    minute,
    runtime_values,
)
from tests.support.fakes.exported_cluster import ADDRESS, PLACE, ExportedCluster, refusal, stats

VALUES = {
    "bootTimestamp": "1700000000000",
    "brokerVersion": "477",
    "brokerVersionDesc": "V5_3_3",
    "remainHowManyDataToFlush": "12 B",
    "commitLogDirCapacity": "Total : 1.5 GiB, Free : 2.0 MiB.",
    "putMessageDistributeTime": "[<=0ms]:7 [0~10ms]:1 [10s~]:2 [odd]:3 ",
    "putTps": "1.5 2.5 3.5",
    "getTransferedTps": "4.0",
    "putLatency99": "odd",
    "putLatency999": "NaN",
}


def test_values_are_the_first_word_of_the_text() -> None:
    values = dict(runtime_values(VALUES))

    assert values == {
        "rocketmq_brokeruntime_boot_timestamp": 1_700_000_000_000,
        "rocketmq_brokeruntime_remain_howmanydata_toflush": 12,
        "rocketmq_brokeruntime_put_tps10": 1.5,
        "rocketmq_brokeruntime_put_tps60": 2.5,
        "rocketmq_brokeruntime_put_tps600": 3.5,
        "rocketmq_brokeruntime_gettransfered_tps10": 4,
        "rocketmq_brokeruntime_pmdt_0ms": 7,
        "rocketmq_brokeruntime_pmdt_0to10ms": 1,
        "rocketmq_brokeruntime_pmdt_10stomore": 2,
        "rocketmq_brokeruntime_commitlogdir_capacity_total": 1.5 * 2**30,
        "rocketmq_brokeruntime_commitlogdir_capacity_free": 2 * 2**20,
    }


@pytest.mark.parametrize(
    ("number", "unit", "size"),
    [
        ("1", "B", 1),
        ("1.5", "KiB", 1536),
        ("2", "TB", 2e12),
        ("1", "XiB", None),
        ("1.2.3", "GiB", None),
    ],
)
def test_sizes_have_units_of_1024_or_1000(number: str, unit: str, size: float | None) -> None:
    assert byte_count(number, unit) == size


async def test_a_master_has_rates_and_a_version() -> None:
    figures = {("BROKER_PUT_NUMS", "c"): stats(7.5)}
    scrape = ExportedCluster(runtime=VALUES, figures=figures).scrape()

    await collect_runtime(scrape)

    labels = ("c", ADDRESS, "a")
    values = scrape.samples.values
    assert values["rocketmq_broker_tps"] == {labels: 7.5}
    assert values["rocketmq_broker_qps"] == {labels: 0}
    assert values["rocketmq_exporter_broker_info"] == {(*labels, "V5_3_3"): 1}
    assert scrape.version == 477


async def test_a_slave_is_not_asked_for_rates() -> None:
    scrape = ExportedCluster(runtime={}).scrape(PLACE._replace(broker_id=1, is_primary=False))

    await collect_runtime(scrape)

    assert scrape.samples.values["rocketmq_broker_tps"] == {}
    assert (scrape.requests, scrape.version) == (1, 0)


async def test_producers_are_counted_by_group() -> None:
    scrape = ExportedCluster(producers={"g": (1, 2)}).scrape()

    await collect_producers(scrape)

    assert scrape.samples.values["rocketmq_producer_count"] == {("c", "a", "g"): 2}


@pytest.mark.parametrize(
    ("code", "failures"),
    [
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, {}),
        (ResponseCode.NO_PERMISSION, {("producers", "NO_PERMISSION"): 1}),
    ],
)
async def test_refused_producers(code: ResponseCode, failures: dict[tuple[str, str], int]) -> None:
    scrape = ExportedCluster(producers=refusal(code)).scrape()

    await scrape.run("producers", collect_producers)

    assert scrape.failures == failures
    assert bool(scrape.incomplete) == bool(failures)


async def test_a_statistic_may_be_refused() -> None:
    denied = refusal(ResponseCode.SYSTEM_ERROR, "AclException: no")
    scrape = ExportedCluster(figures={("SNDBCK_PUT_NUMS", "t@g"): denied}).scrape()

    with pytest.raises(BrokerError):
        await minute(scrape, "SNDBCK_PUT_NUMS", "t@g")
