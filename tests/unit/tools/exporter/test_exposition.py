"""Samples as text: both forms are readable by prometheus_client's parsers."""

from prometheus_client.parser import text_string_to_metric_families as plain

from rocketwire_tools.exporter.exposition import (
    HEAD_LINES,
    OPENMETRICS,
    PART,
    PLAIN,
    content_type_for,
    gauges_text,
)
from rocketwire_tools.exporter.families import FAMILIES, Samples
from tests.support.exporter_in_process import openmetrics_families


def full() -> Samples:
    samples = Samples()
    for name, family in FAMILIES.items():
        samples.set(name, tuple("x" for _ in family.labels), 1.5)
    return samples


def test_every_family_is_valid_in_both_forms() -> None:
    text = gauges_text(full()).decode()

    assert {family.name for family in plain(text)} == set(FAMILIES)
    families = openmetrics_families(f"{text}# EOF\n")
    assert {family.name for family in families} == set(FAMILIES)


def test_labels_keep_their_names_and_escaped_values() -> None:
    samples = Samples()
    samples.set("rocketmq_producer_offset", ("c", 'a"\n', "t"), 1)
    (family,) = plain(gauges_text(samples).decode())

    assert family.samples[0].labels == {"cluster": "c", "broker": 'a"\n', "topic": "t"}


def test_half_of_a_surrogate_pair_in_a_name_does_not_fail() -> None:
    samples = Samples()
    samples.set("rocketmq_producer_offset", ("c", "a", "\ud800"), 1)

    assert b'topic="?"' in gauges_text(samples)


def test_a_client_that_accepts_openmetrics_gets_it() -> None:
    prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"

    assert content_type_for(prometheus) == OPENMETRICS
    assert content_type_for("*/*") == PLAIN


def test_a_family_in_several_parts_has_one_head() -> None:
    samples = Samples()
    for number in range(2 * PART + 1):
        samples.set("rocketmq_producer_offset", ("c", "a", str(number)), number)
    text = gauges_text(samples)

    assert text.count(b"\n") == HEAD_LINES + 2 * PART + 1
    (family,) = plain(text.decode())
    assert [sample.value for sample in family.samples] == list(range(2 * PART + 1))
