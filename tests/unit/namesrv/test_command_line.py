"""The command line is read as Java's ``mqnamesrv`` reads it; its own options take nothing away from that.

The tables without ``--check-config``, ``--sample-config`` and ``--version`` were made with commons-cli 1.5.
"""

import pytest

from rocketwire_namesrv.command_line import HELP, USAGE, UsageError, parse


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["-c", "f"], {"c": "f"}),
        (["-c", "-x"], {"c": "-x"}),
        (["-c", "-1"], {"c": "-1"}),
        (["-c", "--foo"], {"c": "--foo"}),
        (["-c", "-"], {"c": "-"}),
        (["-c", ""], {"c": ""}),
        (["-c", "a", "-c", "b"], {"c": "a"}),
        (["-c", "a", "b", "-p"], {"c": "a", "p": ""}),
        (["--conf", "f"], {"c": "f"}),
        (["-conf", "f"], {"c": "f"}),
        (["--c", "v"], {"c": "v"}),
        (["-configFile=x"], {"c": "x"}),
        (["--configFile=x"], {"c": "x"}),
        (["--configFile="], {"c": ""}),
        (["-c=x"], {"c": "x"}),
        (["-cfoo"], {"c": "foo"}),
        (["-configFilefoo"], {"c": "foo"}),
        (["-hpcfoo"], {"h": "", "p": "", "c": "foo"}),
        (["-c", '"q"'], {"c": "q"}),
        (['--configFile="q"'], {"c": '"q"'}),
        (['-c"q"'], {"c": '"q"'}),
        (["-", "-p"], {"p": ""}),
        (["--", "-x"], {}),
        (["-p", "-pp"], {"p": ""}),
        (["--h"], {"h": ""}),
        (["-help"], {"h": ""}),
        (["--printConfigItem", "bare", "words"], {"p": ""}),
        (["-n", "host:9876"], {"n": "host:9876"}),
        # options that Java does not have
        (["--check-config", "f"], {"check-config": "f"}),
        (["--check-config=f"], {"check-config": "f"}),
        (["--check-config="], {"check-config": ""}),
        (["--check-config", "f", "--check-config", "g"], {"check-config": "f"}),
        (["--version"], {"version": ""}),
        (["-p", "--sample-config", "bare"], {"p": "", "sample-config": ""}),
        (["-c", "f", "--check-config", "g"], {"c": "f", "check-config": "g"}),
        (["-c", "--check-config", "g"], {"c": "--check-config"}),
        (["-c", "--version"], {"c": "--version"}),
        (["--", "--version"], {}),
    ],
)
def test_command_line_is_read_as_in_java(words: list[str], expected: dict[str, str]) -> None:
    assert parse(words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-x"], "Unrecognized option: -x"),
        (["--bogus"], "Unrecognized option: --bogus"),
        (["-hx"], "Unrecognized option: -hx"),
        (["-ph=3"], "Unrecognized option: -ph=3"),
        (["-hc=5"], "Unrecognized option: -hc=5"),
        (["--help=1"], "Unrecognized option: --help=1"),
        (["-h=1"], "Unrecognized option: -h=1"),
        (["---c"], "Unrecognized option: ---c"),
        (["-c", "---c"], "Unrecognized option: ---c"),
        (["-=x"], "Unrecognized option: -=x"),
        (["-c"], "Missing argument for option: c"),
        (["-c", "-p"], "Missing argument for option: c"),
        (["-c", "-cx"], "Missing argument for option: c"),
        (["-n", "-hello"], "Missing argument for option: n"),
        (["-c", "--", "v"], "Missing argument for option: c"),
        (["-c", "-configFilefoo"], "Missing argument for option: c"),
        (
            ["--=x"],
            "Ambiguous option: '--'  "
            "(could be: 'help', 'namesrvAddr', 'configFile', 'printConfigItem')",
        ),
        # options that Java does not have
        (["--check-config"], "Missing argument for option: check-config"),
        (["--check-config", "-p"], "Missing argument for option: check-config"),
        (["--check-config", "--version"], "Missing argument for option: check-config"),
        (["--version=1"], "Unrecognized option: --version=1"),
        (["--sample-config=x"], "Unrecognized option: --sample-config=x"),
        (["--check"], "Unrecognized option: --check"),
        (["-version"], "Unrecognized option: -version"),
    ],
)
def test_command_line_is_refused_with_the_text_of_java(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words)
    assert str(caught.value) == message


def test_help_begins_with_the_text_of_java() -> None:
    assert HELP.startswith(USAGE)
    assert all(len(line) <= 100 for line in HELP.splitlines())
    for word in ("--check-config", "--sample-config", "--version", "rocketwire.*"):
        assert word in HELP.removeprefix(USAGE)
