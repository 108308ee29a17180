"""Spark's side of a data source, without Spark: filters, schemas, and reads of partitions."""

import pickle
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class EqualTo(NamedTuple):
    attribute: tuple[str, ...]
    value: Any


class In(EqualTo):
    """The value is a tuple."""


class GreaterThan(EqualTo):
    """The attribute is larger."""


class GreaterThanOrEqual(EqualTo):
    """The attribute is at least as large."""


class LessThan(EqualTo):
    """The attribute is smaller."""


class LessThanOrEqual(EqualTo):
    """The attribute is at most as large."""


class StringStartsWith(EqualTo):
    """The value is a prefix."""


class IsNotNull(NamedTuple):
    attribute: tuple[str, ...]


class Not(NamedTuple):
    child: Any


def make_schema(columns: Mapping[str, str]) -> Any:
    from pyspark.sql import types

    classes = {
        "string": types.StringType,
        "int": types.IntegerType,
        "bigint": types.LongType,
        "boolean": types.BooleanType,
        "binary": types.BinaryType,
    }
    fields = [types.StructField(name, classes[type_]()) for name, type_ in columns.items()]
    return types.StructType(fields)


def read_partitions(reader: Any, partitions: Iterable[Any]) -> list[dict[str, Any]]:
    return [
        row
        for partition in partitions
        for batch in pickle.loads(pickle.dumps(reader)).read(pickle.loads(pickle.dumps(partition)))
        for row in batch.to_pylist()
    ]
