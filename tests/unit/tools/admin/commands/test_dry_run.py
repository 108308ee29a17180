"""Every command that changes something has ``--dry-run``, with which it writes nothing."""

import argparse
import json
import re

import pytest

from rocketwire_tools.admin.program import all_commands
from tests.support.admin_in_process import run

CHANGING = re.compile(
    "(add|clean|clone|copy|create|delete|elect|rem|reset|set|skip|switch|trigger|update|wipe)"
)
"""First words in the names of changing commands."""
ADDRESS = "127.0.0.1:1"


def test_each_command_that_changes_something_has_a_dry_run() -> None:
    changing = [command for command in all_commands() if CHANGING.match(command.name)]
    assert len(changing) > 40
    for command in changing:
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        for add_option in command.options:
            add_option(parser)
        assert "--dry-run" in parser.format_help(), command.name


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        (f"cleanExpiredCQ -b {ADDRESS}", {"brokerAddr": ADDRESS}),
        (f"cleanUnusedTopic -b {ADDRESS}", {"brokerAddr": ADDRESS}),
        (f"deleteExpiredCommitLog -b {ADDRESS}", {"brokerAddr": ADDRESS}),
        (
            f"resetMasterFlushOffset -b {ADDRESS} -o 7",
            {"brokerAddr": ADDRESS, "masterFlushOffset": 7},
        ),
        (f"setCommitLogReadAheadMode -b {ADDRESS} -m 1", {"brokerAddr": ADDRESS, "answer": None}),
        (
            f"switchTimerEngine -b {ADDRESS} -e F",
            {"brokerAddr": ADDRESS, "engine": "FILE_TIME_WHEEL"},
        ),
        (
            f"rocksDBConfigToJson -b {ADDRESS} -t topics",
            {"brokerAddr": ADDRESS, "exported": ["topics"]},
        ),
        (f"addBroker -c {ADDRESS} -b a.conf", {"containerAddr": ADDRESS, "configPath": "a.conf"}),
        (
            f"removeBroker -c {ADDRESS} -b c:b:0",
            {"containerAddr": ADDRESS, "clusterName": "c", "brokerName": "b", "brokerId": 0},
        ),
        (
            f"cleanBrokerMetadata -a {ADDRESS} -bn b -b 1;2 -c c",
            {"brokerName": "b", "cleaned": [1, 2]},
        ),
    ],
)
def test_dry_run_sends_nothing(line: str, rows: dict[str, object]) -> None:
    words = [*line.split(), "-n", ADDRESS, "--output", "json"]
    dry = run(*words, "--dry-run")

    assert (dry.status, dry.complaint, json.loads(dry.out)) == (0, "", [rows])
    assert run(*words).status == 3
