"""A command accepts the example of its ``--help``."""

import shlex

import pytest

from rocketwire_tools.admin.program import EXAMPLES, NAME, all_commands, build_parser, with_example
from tests.support.admin_in_process import run


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_shown_and_can_be_typed(name: str) -> None:
    lines = run(name, "--help").out.splitlines()
    (line,) = (line for line in lines if line.startswith(f"  {NAME} {name} "))

    parsed = build_parser(all_commands()).parse_args(shlex.split(line)[1:])

    assert (name, True) == (parsed.command, bool(parsed.setting_namesrv_addr))


def test_example_ends_the_help() -> None:
    example = "example:\n  p topicStatus -t orders -n ns1:9876\n"

    assert with_example("p", "topicClusterList", "Text.") == "Text."
    assert with_example("p", "topicStatus", None) == example
    assert with_example("p", "topicStatus", "Text.\n") == f"Text.\n\n{example}"
