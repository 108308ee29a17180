"""Names equal those of the installed package of OpenTelemetry."""

import pytest
from opentelemetry.semconv._incubating.attributes import messaging_attributes
from opentelemetry.semconv._incubating.metrics import messaging_metrics
from opentelemetry.semconv.attributes import error_attributes, server_attributes
from opentelemetry.semconv.schemas import Schemas

from rocketwire.client.telemetry import semantic_conventions

SOURCES = (messaging_attributes, messaging_metrics, error_attributes, server_attributes)
OWN = {"SCHEMA_URL", "STABILITY_OPT_IN", "MESSAGING_DUP", "ROCKETMQ", "DURATION_BUCKETS"}
NAMES = sorted(n for n in vars(semantic_conventions) if n.isupper() and n not in OWN)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_that_of_the_conventions(name: str) -> None:
    (source,) = (source for source in SOURCES if hasattr(source, name))
    assert getattr(semantic_conventions, name) == getattr(source, name)


def test_the_value_of_the_system_is_that_of_the_conventions() -> None:
    values = messaging_attributes.MessagingSystemValues
    assert values.ROCKETMQ.value == semantic_conventions.ROCKETMQ


def test_the_schema_is_one_of_the_package() -> None:
    assert semantic_conventions.SCHEMA_URL in {schema.value for schema in Schemas}
