"""The errors that a new user meets first: one line each, with what to do, and no traceback."""

from pathlib import Path

import pytest

from rocketwire_broker.__main__ import main as rocketwire
from rocketwire_namesrv.__main__ import main as namesrv
from rocketwire_tools.admin.program import main as admin
from rocketwire_tools.codec.__main__ import main as codec
from rocketwire_tools.conformance.__main__ import main as conformance
from rocketwire_tools.exporter.__main__ import main as exporter
from rocketwire_tools.pcap.__main__ import main as pcap
from rocketwire_tools.store.__main__ import main as store

CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "java-5.5.0.pcap.gz"

PROGRAMS = {
    "rocketwire": rocketwire,
    "admin": admin,
    "codec": codec,
    "conformance": conformance,
    "exporter": exporter,
    "namesrv": namesrv,
    "pcap": pcap,
    "store": store,
}


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        ("rocketwire", 2, "the following arguments are required: VERB; see rocketwire --help"),
        (
            "rocketwire dev --port abc",
            2,
            "'abc': must be a port from 0 to 65535; see rocketwire dev --help",
        ),
        ("rocketwire dev --broker-port 70000", 2, "must be a port from 0 to 65535"),
        ("rocketwire dev -c none.conf", 255, "cannot start: none.conf: no such file or directory"),
        ("rocketwire dev --topics broken.toml", 255, "cannot start: broken.toml: Expected ']'"),
        (
            "rocketwire dev --retain-hours -1",
            255,
            "--retain-hours (fileReservedTime): must be positive",
        ),
        ("admin topicList", 2, "no name server: use -n HOST:PORT, set NAMESRV_ADDR"),
        ("admin topicLst", 2, "did you mean topicList"),
        ("admin topicList -n localhost", 2, "not host:port: 'localhost'"),
        ("admin topicRoute -n a:1", 2, "required: -t/--topic; see rocketwire-admin topicRoute"),
        ("admin updateTopic -n a:1 -t a", 2, "see rocketwire-admin updateTopic --help"),
        ("admin updateTopicList -n a:1 -b a:1 -f none", 2, "none: no such file or directory"),
        ("admin updateTopicList -n a:1 -b a:1 -f broken.toml", 2, "broken.toml: invalid JSON"),
        ("admin topicList -n a:1 --ca none.pem", 2, "none.pem: No such file or directory"),
        ("exporter --once", 2, "no name server: use -n HOST:PORT, set NAMESRV_ADDR"),
        ("exporter -n a:1 --listen abc", 2, "'abc': must be ADDRESS:PORT"),
        ("namesrv -c none.properties", 255, "none.properties: no such file or directory"),
        ("namesrv --nonsense", 1, "Unrecognized option: --nonsense"),
        ("pcap decode none.pcap", 1, "none.pcap: No such file or directory"),
        ("pcap summary none.pcap", 1, "none.pcap: No such file or directory"),
        ("pcap slow CAPTURE --filter topic=='x'", 1, "--filter matches none of"),
        ("pcap decode CAPTURE --filter topic=='x'", 1, "--filter matches none of"),
        ("pcap decode broken.toml", 1, "this is neither a pcap nor a pcapng file"),
        ("pcap decode CAPTURE -o none/x.csv", 2, "none/x.csv: no such file or directory"),
        ("pcap decode CAPTURE -o x.xyz", 2, "no format is called .xyz; there are .parquet"),
        (
            "pcap decode CAPTURE --filter cod==3",
            2,
            "no column 'cod'; did you mean code?; there are",
        ),
        ("pcap summary CAPTURE --top 0", 2, "must be a positive integer; see rocketwire-pcap"),
        ("codec decode none", 2, "none: no such file or directory"),
        ("codec decode 0000006f", 2, "0000006f: no such file or directory; give hex on standard"),
        ("codec decode --request-code x", 2, "'x': must be the number or the name of a request"),
        ("store info none", 2, "none: no such file or directory"),
        ("store info .", 2, "no commit log, queue or configuration of a broker"),
        ("store messages --begin yesterday .", 2, "'yesterday': must be now, 2h ago, 2026-01-31T"),
        ("store get --at orders:3:1", 2, "required: PATH; see rocketwire-store get --help"),
        ("conformance", 2, "either HOST:PORT or --start COMMAND is required"),
        ("conformance a:1 --only x", 2, "no case matches --only, --tag and --without"),
        ("conformance --explain x", 2, "unknown case x; --list shows all cases"),
        ("conformance matrix none", 2, "none: no such file or directory"),
        ("conformance matrix broken.toml", 2, "broken.toml: not a report of --json"),
    ],
)
def test_an_error_is_one_line_with_advice(
    words: str,
    status: int,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "broken.toml").write_text("[topics.a\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NAMESRV_ADDR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    name, *arguments = words.replace("CAPTURE", str(CAPTURE)).split()

    try:
        result = PROGRAMS[name](arguments)
    except SystemExit as exited:
        result = exited.code if isinstance(exited.code, int) else 1

    output, error = capfd.readouterr()
    assert (result, error.count("\n")) == (status, 1), error
    assert not output or name == "namesrv"  # Java's usage
    assert reason in error
