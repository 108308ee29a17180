"""Every command and every option of mqadmin 5.5.0 is accepted, as mqadmin itself lists them."""

from __future__ import annotations

import subprocess
from functools import partial
from typing import TYPE_CHECKING

import pytest

from rocketwire_tools.admin.program import build_parser
from rocketwire_tools.admin.registry import all_commands
from tests.peers import cache as java_cache
from tests.peers.peers import CURRENT, java, prepare
from tests.peers.shared_peers import have_here

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


SECONDS = 120
ODDLY_NAMED = {"print msg", "print log", "machine room"}
"""Long names that mqadmin gives to some options, and that no shell can pass on without quotes."""


@pytest.fixture(scope="module")
def of_mqadmin(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Lines of a command alone, or of a command, an option's names, and whether it takes a value."""
    have_here(partial(java_cache.classes, CURRENT, "Options.java"))
    folder: Path = prepare(tmp_path_factory.mktemp("options"))
    command = java(CURRENT, "Options", classes=java_cache.classes(CURRENT, "Options.java"))
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=SECONDS
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def action_of(parser: argparse.ArgumentParser, names: list[str]) -> argparse.Action | None:
    """The one action that has all of these names."""
    options: dict[str, argparse.Action] = vars(parser)["_option_string_actions"]
    found = [options.get(name) for name in names]
    return found[0] if all(one is found[0] for one in found) else None


@pytest.mark.full
def test_every_command_and_option_of_mqadmin_is_taken(of_mqadmin: list[list[str]]) -> None:
    actions: list[argparse.Action] = vars(build_parser(all_commands()))["_actions"]
    (commands,) = (one for one in actions if one.dest == "command")
    parsers: dict[str, argparse.ArgumentParser] = vars(commands)["choices"]
    missing: list[str] = []
    for command, *option in of_mqadmin:
        if not option:
            missing += [] if command in parsers else [command]
            continue
        short, long, takes_value = option
        names = [f"-{short}"] if short else []
        names += [f"--{long}"] if long not in ODDLY_NAMED else []
        action = action_of(parsers[command], names)
        if action is None or (action.nargs != 0) != (takes_value == "true"):
            missing.append(f"{command} {' '.join(names)}")

    assert missing == []
    assert len({command for command, *_ in of_mqadmin}) > 90
