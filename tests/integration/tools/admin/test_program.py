import argparse
import io
import signal
import socket
import subprocess
import sys

import pytest

from rocketwire.errors import (
    BrokerError,
    ConnectFailedError,
    IllegalAddressError,
    IllegalNameError,
    NoNameServerError,
    SendFailedError,
)
from rocketwire_tools.admin import program
from rocketwire_tools.admin.program import all_commands, build_parser
from rocketwire_tools.cli import exit_status
from rocketwire_tools.cli.command import Command, Context, RefusedError, UsageError
from tests.support.admin_in_process import run
from tests.support.admin_process import begin, end


def test_help_lists_every_command() -> None:
    help_text = run("--help")

    assert 0 == help_text.status
    for command in all_commands():
        assert f"\n  {command.name}" in help_text.out
        assert f"\n{command.group}:\n" in help_text.out


def test_every_command_has_help_and_takes_the_programs_options() -> None:
    commands = all_commands()
    parser = build_parser(commands)
    (commands_action,) = (action for action in vars(parser)["_actions"] if action.dest == "command")

    for command in commands:
        help_text: str = commands_action.choices[command.name].format_help()
        assert f"rocketwire-admin {command.name}" in help_text
        assert (command.streams and command.offline) or "--output" in help_text
        assert command.offline or ("--namesrv-addr" in help_text and "--profile-file" in help_text)


@pytest.mark.parametrize("words", ["", "no-such-command", "topiclists", "help no-such-command"])
def test_without_a_command_the_usage_is_wrong(words: str) -> None:
    assert 2 == run(*words.split()).status


def test_commands_are_found_in_whatever_case_their_letters_are() -> None:
    assert run("topiclist", "--help") == run("topicList", "--help") == run("TOPICLIST", "-h")
    assert 3 == run("TopicList", "-n", "127.0.0.1:1").status


def test_help_of_a_command_is_its_own_help() -> None:
    assert run("produce", "--help") == run("help", "produce")
    assert run("--help") == run("help")


def test_a_command_may_have_an_option_of_the_programs_letter() -> None:
    def add(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("-o", "--order")

    async def nothing(context: Context) -> None:
        del context

    parser = build_parser([Command(name="updateTopic", help="x", run=nothing, options=(add,))])

    # those of the connection may stand on either side of the command
    for words in (["-n", "a:1", "updateTopic"], ["updateTopic", "-n", "a:1"]):
        result = parser.parse_args([*words, "-o", "true", "--output", "json"])
        values = (result.order, result.output_form, result.setting_namesrv_addr)
        assert ("true", "json", "a:1") == values


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_completion_script(shell: str) -> None:
    script = run("completion", shell)

    assert 0 == script.status
    assert "rocketwire-admin" in script.out
    assert "--namesrv-addr" in script.out


@pytest.mark.process
def test_bash_completes_commands_with_the_script() -> None:
    script = run("completion", "bash").out
    text = f"""{script}
COMP_WORDS=(rocketwire-admin compl) COMP_CWORD=1
_shtab_rocketwire_admin && echo "${{COMPREPLY[@]}}"
"""
    ended = subprocess.run(["bash"], input=text, capture_output=True, text=True, check=True)

    assert "completion" in ended.stdout


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 2),
        (IllegalNameError("x"), 2),
        (NoNameServerError("x"), 2),
        (RefusedError("x"), 1),
        (BrokerError(17, "no such topic", 10, "h:1"), 1),
        (ConnectFailedError("x"), 3),
        (IllegalAddressError("x"), 3),
    ],
)
def test_statuses_distinguish_faults_of_user_and_server(error: Exception, status: int) -> None:
    assert status == exit_status.status_of(error)


def test_a_send_that_failed_has_the_status_of_its_last_try() -> None:
    error = SendFailedError("T", ("a", "b"))
    error.__cause__ = ConnectFailedError("a:1: refused")

    assert 3 == exit_status.status_of(error)
    assert "a:1: refused" in exit_status.line_of(error)


def test_an_error_is_one_line() -> None:
    assert "one two" == exit_status.line_of(RefusedError("one\n  two"))
    assert "-n HOST:PORT" in exit_status.line_of(NoNameServerError("x"))


@pytest.mark.process
def test_a_terminated_producer_reports_it() -> None:
    process = begin("produce", "-n", "127.0.0.1:1", "-t", "T", "-v", stdin=subprocess.PIPE)
    assert process.stderr is not None
    assert b"waiting for lines" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    ended = end(process)

    assert (128 + signal.SIGTERM, b"") == (ended.status, ended.out)
    assert "rocketwire-admin: stopped by SIGTERM\n" == ended.complaint


LOADING = """
import os, signal, sys
from rocketwire_tools.admin.__main__ import main

class Impatient:
    def find_spec(name, *_):
        if name == "rocketwire_tools.admin.program":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have what runs beside them ignore it
sys.meta_path.insert(0, Impatient)
main()
"""
"""Has the user press Ctrl-C while the program is loaded."""


@pytest.mark.process
def test_an_interrupt_while_loading_shows_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, check=False)

    assert (-signal.SIGINT, b"", b"") == (ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.process
def test_a_server_that_is_not_there_is_unreachable() -> None:
    sent = end(begin("produce", "-n", "127.0.0.1:1", "-t", "T"), b"one\n")
    consumed = end(begin("consume", "-n", "127.0.0.1:1", "-t", "T", "-g", "g"))

    assert (3, 3) == (sent.status, consumed.status)
    assert sent.complaint.startswith("rocketwire-admin: message 1: ")
    assert 1 == sent.complaint.count("\n") == consumed.complaint.count("\n")


DENIED = BrokerError(16, "no matched policies", 10, "h:1")


def test_forbidden_answers_are_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    denied = exit_status.Denied()
    for error in (BrokerError(17, "no such topic", 10, "h:1"), DENIED, DENIED):
        denied.note(error)

    denied.report(is_empty=False)

    assert "2 left out" in caplog.text
    assert "no matched policies" in caplog.text
    with pytest.raises(BrokerError, match="no matched policies"):
        denied.report(is_empty=True)


def test_what_is_empty_for_another_reason_is_no_refusal(caplog: pytest.LogCaptureFixture) -> None:
    denied = exit_status.Denied()
    denied.note(BrokerError(17, "no such topic", 10, "h:1"))

    denied.report(is_empty=True)

    assert not caplog.text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_once_which_server_a_command_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(program, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(sys, "stderr", terminal)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        words = ("-b", address, "-n", "127.0.0.1:1", "--request-timeout", "1")
        assert 3 == program.main(("brokerStatus", *words))

    waits = [line for line in terminal.getvalue().splitlines() if "waiting" in line]
    assert waits == [f"rocketwire-admin: waiting for {address} ..."]
