from __future__ import annotations

import subprocess

import pytest

from rocketwire.errors import (
    BrokerError,
    ConnectFailedError,
    IllegalNameError,
    NoNameServerError,
    SendFailedError,
)
from rocketwire_tools.admin import registry, statuses
from rocketwire_tools.admin.command import RefusedError, UsageError
from rocketwire_tools.admin.program import build_parser
from tests.tools.admin.running import run


def test_help_lists_every_command() -> None:
    told = run("--help")

    assert 0 == told.status
    for command in registry.all_commands():
        assert command.name in told.out


@pytest.mark.parametrize("command", [one.name for one in registry.all_commands()])
def test_every_command_tells_of_itself(command: str) -> None:
    told = run(command, "--help")

    assert 0 == told.status
    assert f"rocketwire-admin {command}" in told.out


def test_no_long_option_of_the_program_is_taken_by_a_command() -> None:
    for command in registry.all_commands():
        told = run(command.name, "--help").out
        assert command.streams or "--output" in told
        assert command.offline or ("--namesrv-addr" in told and "--profile-file" in told)


def test_without_a_command_the_usage_is_wrong() -> None:
    assert 2 == run().status
    assert 2 == run("no-such-command").status


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_completion_script(shell: str) -> None:
    script = run("completion", shell)

    assert 0 == script.status
    assert "rocketwire-admin" in script.out
    assert "--namesrv-addr" in script.out


def test_bash_completes_commands_with_the_script() -> None:
    script = run("completion", "bash").out
    asked = f"""{script}
COMP_WORDS=(rocketwire-admin compl) COMP_CWORD=1
_shtab_rocketwire_admin && echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)

    assert "completion" in done.stdout


def test_connection_options_may_stand_on_either_side_of_the_command() -> None:
    parser = build_parser(registry.all_commands())

    before = parser.parse_args(["-n", "a:1", "completion", "bash"])

    assert "a:1" == before.setting_namesrv_addr


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 2),
        (IllegalNameError("x"), 2),
        (NoNameServerError("x"), 2),
        (RefusedError("x"), 1),
        (BrokerError(17, "no such topic", 10, "h:1"), 1),
        (ConnectFailedError("x"), 3),
    ],
)
def test_statuses_tell_who_is_at_fault(error: Exception, status: int) -> None:
    assert status == statuses.status_of(error)


def test_a_send_that_failed_has_the_status_of_its_last_try() -> None:
    error = SendFailedError("T", ("a", "b"))
    error.__cause__ = ConnectFailedError("a:1: refused")

    assert 3 == statuses.status_of(error)
    assert "a:1: refused" in statuses.line_of(error)


def test_an_error_is_one_line() -> None:
    assert "one two" == statuses.line_of(RefusedError("one\n  two"))
    assert "-n HOST:PORT" in statuses.line_of(NoNameServerError("x"))
