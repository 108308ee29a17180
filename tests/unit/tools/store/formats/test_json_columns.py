"""A line that is joined of columns is the line that msgspec writes of an object."""

import pytest

from rocketwire_tools.store.engine.rows import COLUMNS, Rows, TopicNames
from rocketwire_tools.store.formats.json_columns import JsonColumns
from rocketwire_tools.store.formats.json_rows import JsonRows
from rocketwire_tools.store.opened import OpenedStore
from tests.peers.peers import CURRENT
from tests.support.stores.fixtures import unpack


@pytest.fixture(scope="module", params=["features", "plain", "inner"])
def blocks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Rows]:
    """Rows of a broker's store: with transactions and delays, with odd texts, with batches."""
    root = unpack(CURRENT, request.param, tmp_path_factory.mktemp("store")).root
    (scan,) = OpenedStore([root]).scans()
    scan.block_size = 1 << 20
    return [Rows(block, TopicNames()) for block in scan]


@pytest.mark.parametrize("body", ["text", "hex", "base64"])
@pytest.mark.parametrize("name", COLUMNS)
def test_each_column_is_as_msgspec_writes_it(name: str, body: str, blocks: list[Rows]) -> None:
    for rows in blocks:
        as_objects = JsonRows([name], body)
        columns = JsonColumns(rows, as_objects.values)

        assert bytes(columns.lines([name], body)) == as_objects.objects(rows)
