"""A command accepts the example of its ``--help``."""

from __future__ import annotations

import shlex

import pytest

from rocketwire_tools.admin.examples import EXAMPLES, with_example
from rocketwire_tools.admin.program import NAME, build_parser
from rocketwire_tools.admin.registry import all_commands
from tests.support.admin_in_process import run


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_shown_and_can_be_typed(name: str) -> None:
    shown = run(name, "--help").out
    (line,) = (one for one in shown.splitlines() if one.startswith(f"  {NAME} {name} "))

    parsed = build_parser(all_commands()).parse_args(shlex.split(line)[1:])

    assert (name, True) == (parsed.command, bool(parsed.setting_namesrv_addr))


def test_an_example_stands_behind_what_else_there_is_to_say() -> None:
    assert with_example("p", "topicClusterList", "Text.") == "Text."
    assert with_example("p", "topicStatus", None) == (
        "example:\n  p topicStatus -t orders -n ns1:9876\n"
    )
    assert with_example("p", "topicStatus", "Text.\n") == (
        "Text.\n\nexample:\n  p topicStatus -t orders -n ns1:9876\n"
    )
