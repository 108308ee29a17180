"""Functions of pyarrow have the same results from fast private modules and from public ones."""

import importlib
import io
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from rocketwire_tools.pcap import arrow
from rocketwire_tools.pcap.arrow import pa
from rocketwire_tools.pcap.rows.rows import schema
from tests.peers import manifest

IMPORTS = """
import sys
from rocketwire_tools.pcap.__main__ import main
assert main(["decode", sys.argv[1], "-o", sys.argv[2]]) == 0
print(sorted({"ssl", "pyarrow.compute", "pyarrow.fs", "pyarrow.parquet"} & sys.modules.keys()))
"""


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    real = importlib.import_module

    def import_module(name: str, package: str | None = None) -> ModuleType:
        if name == missing:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", import_module)


def parquet() -> bytes:
    file = io.BytesIO()
    options: dict[str, Any] = {
        "compression": "zstd",
        "use_dictionary": ["topic"],
        "write_statistics": ["opaque"],
    }
    writer = arrow.parquet_writer(file, schema(("topic", "opaque")), **options)
    columns = [pa.array(["T", None] * 50), pa.array(range(100), pa.int32())]
    table = pa.table(columns, schema=schema(("topic", "opaque")))
    writer.write_table(table, row_group_size=100)
    writer.close()
    pq: Any = importlib.import_module("pyarrow.parquet")
    assert pq.read_table(io.BytesIO(file.getvalue())).equals(table)
    return file.getvalue()


def test_parquet_is_the_same_from_both_places(monkeypatch: pytest.MonkeyPatch) -> None:
    data = parquet()
    without(monkeypatch, "pyarrow._parquet")
    assert data == parquet()


@pytest.mark.process
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_decoding_imports_nothing_of_pyarrow_that_takes_long(suffix: str, tmp_path: Any) -> None:
    capture = str(manifest.FIXTURES / "captures" / "java-4.9.4.pcap.gz")
    command = [sys.executable, "-c", IMPORTS, capture, str(tmp_path / f"rows.{suffix}")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
