"""Every command and every option of mqadmin 5.5.0 is accepted, as mqadmin itself lists them."""

import argparse
import subprocess
from functools import partial
from pathlib import Path

import pytest

from rocketwire_tools.admin.program import all_commands, build_parser
from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT, java, prepare
from tests.peers.shared_peers import have_here

SECONDS = 120
ODDLY_NAMED = {"print msg", "print log", "machine room"}
"""Long names that mqadmin gives to some options, and that no shell can pass on without quotes."""


@pytest.fixture(scope="module")
def mqadmin_options(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    have_here(partial(java_cache.classes, CURRENT, "Options.java"))
    folder: Path = prepare(tmp_path_factory.mktemp("options"))
    command = java(CURRENT, "Options", classes=java_cache.classes(CURRENT, "Options.java"))
    listing = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=SECONDS
    )
    return [line.split("\t") for line in listing.stdout.splitlines()]


def find_action(parser: argparse.ArgumentParser, names: list[str]) -> argparse.Action | None:
    options: dict[str, argparse.Action] = vars(parser)["_option_string_actions"]
    first, *actions = [options.get(name) for name in names]
    return first if all(action is first for action in actions) else None


@pytest.mark.full
def test_all_commands_and_options_of_mqadmin_are_accepted(mqadmin_options: list[list[str]]) -> None:
    actions: list[argparse.Action] = vars(build_parser(all_commands()))["_actions"]
    (commands,) = (action for action in actions if action.dest == "command")
    parsers: dict[str, argparse.ArgumentParser] = vars(commands)["choices"]
    missing: list[str] = []
    for command, *option in mqadmin_options:
        if not option:
            missing += [] if command in parsers else [command]
            continue
        letter, name, takes_value = option
        names = [f"-{letter}"] if letter else []
        names += [f"--{name}"] if name not in ODDLY_NAMED else []
        action = find_action(parsers[command], names)
        if action is None or (action.nargs != 0) != (takes_value == "true"):
            missing.append(f"{command} {' '.join(names)}")

    assert missing == []
    assert len({command for command, *_ in mqadmin_options}) > 90
