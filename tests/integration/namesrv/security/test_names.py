"""Names that peers choose: they make no file, no line of the log and no series of the metrics."""

import json
import re
import urllib.request
from pathlib import Path

import pytest

from tests.integration.namesrv.security import server_process
from tests.peers.raw_call import ask
from tests.support.fakes.sansio_server import identity, registration_body, topic
from tests.support.name_servers import SERVED_CODES

NAMES = (
    "../../x",
    "/etc/passwd",
    "..",
    "a\x00b",
    "x" * 200,
    "x" * 2000,
    "a\r\nb",
    "a\n2026-01-31 12:00:00 WARN main - forged",
    "a\u2028b",
    "a\u0085b",
    '"} 1\nrocketmq_namesrv_forged{a="',
    "\x1b[31mred",
    "%s%n{}{0}",
    "half \ud800 a pair",
    "<script>alert(1)</script>",
)
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (DEBUG|INFO|WARN|ERROR) \S+ - ")
BOOT = ("load config", "The Name Server boot", "log: stderr; status page: http:")


def spread(port: int, name: str) -> None:
    broker = identity(address="127.0.0.1:1", haServerAddr="")
    table = {key: topic(key) for key in (name, "TA")}
    for field in ("", "brokerAddr", "brokerName", "clusterName", "haServerAddr", "__ZONE_NAME"):
        fields = {**broker, field: name} if field else broker
        topics = table if not field else {"TA": topic("TA"), "TB": topic("TB")}
        ask(port, 103, fields, registration_body(topics))
    queue = {
        "brokerName": "b1",
        "perm": 6,
        "readQueueNums": 1,
        "topicSysFlag": 0,
        "writeQueueNums": 1,
    }
    ask(port, 217, {"topic": name}, json.dumps({"queueDatas": [queue]}).encode())
    ask(port, 100, {"namespace": name, "key": name, "value": name})
    everything = identity(
        name, address=name, clusterName=name, topic=name, cluster=name, namespace=name, key=name
    )
    for code in SERVED_CODES:
        if code not in {100, 103, 217}:
            ask(port, code, everything, f"{name}=1".encode("utf-8", "replace"))


def series(server_log: str) -> set[str]:
    match = re.search(r"http://127\.0\.0\.1:(\d+)|127\.0\.0\.1:(\d+)/? .*operators", server_log)
    assert match is not None, server_log
    port = match[1] or match[2]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as page:
        text: str = page.read().decode()
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return {line.rpartition(" ")[0] for line in lines}


def quiet(all_series: set[str]) -> set[str]:
    return {re.sub(r'"[A-Za-z0-9_+.]*"', '"*"', label) for label in all_series}


@pytest.mark.process
@pytest.mark.parametrize("driver", ["portable", "reactor"])
def test_T_names_leave_no_trace_but_in_answers(tmp_path: Path, driver: str) -> None:
    server = server_process.server(tmp_path, driver, rocketwire__allowConfigUpdate="true")
    with server:
        spread(server.port, "plain")
        files_before, names = server_process.files(tmp_path), quiet(series(server.log))
        for name in NAMES:
            spread(server.port, name)
        files_after = server_process.files(tmp_path)
        labels = quiet(series(server.log))
        stored = json.loads((tmp_path / "namesrv" / "kvConfig.json").read_bytes())

    assert files_after.keys() == files_before.keys()
    assert not (tmp_path.parent / "x").exists()
    written = {name.encode("utf-8", "replace").decode() for name in NAMES}
    assert set(stored["configTable"]) <= {"plain", *written}
    unusual = [line for line in server.log.splitlines() if not LINE.match(line)]
    assert [line for line in unusual if not line.startswith(BOOT)] == []
    assert not [line for line in server.log.splitlines() if line.startswith("2026-01-31")]
    new = {label.partition("{")[0] for label in labels - names}
    assert new <= {"rocketmq_namesrv_limit_hits_total"}  # a name was too long
    assert all(re.fullmatch(r'\w+(\{(\w+="[\w.+*]*",?)*\})?', label) for label in labels)
