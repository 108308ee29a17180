"""Masks hide the names of a recorded capture in each command, and a name has one mask."""

import pytest

from tests.peers import manifest
from tests.support.file_programs import Output, run_pcap

CAPTURE = str(manifest.FIXTURES / "captures" / "java-5.5.0.pcap.gz")
NAMES = (
    *("orders", "bookkeeping", "shop", "broker-a", "DefaultCluster", "127.0.0.1", "TBW102"),
    *("SPACE", "java-5"),
)


def run_masked(command: str, *options: str) -> Output:
    return run_pcap(command, *options, CAPTURE, "--redact", "secret")


@pytest.mark.parametrize(
    "words",
    [
        ["decode"],
        ["decode", "--format", "csv"],
        ["decode", "--format", "jsonl", "--fields", "file,remark,topic,group,connection"],
        ["summary"],
        ["slow", "--json"],
        ["topics"],
        ["connections", "--json"],
    ],
    ids=" ".join,
)
def test_no_name_gets_through(words: list[str]) -> None:
    text = run_masked(*words).text
    assert len(text) > 200
    assert [] == [name for name in NAMES if name in text]
