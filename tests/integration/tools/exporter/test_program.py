"""The program as a process, at a broker for development: scrapes, what is deleted, its end."""

import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.peers.dev_cluster import DevCluster
from tests.support.admin_in_process import run as run_admin
from tests.support.exporter_in_process import openmetrics_families

pytestmark = pytest.mark.process

PROGRAM = (sys.executable, "-m", "rocketwire_tools.exporter")


@contextmanager
def exporter(address: str, *options: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    command = (*PROGRAM, "-n", address, "--listen", "127.0.0.1:0", *options)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[-1], process
        finally:
            process.kill()


def get(url: str, accept: str = "text/plain") -> str:
    request = Request(url, headers={"Accept": accept})
    with urlopen(request, timeout=120) as response:
        text: str = response.read().decode()
        return text


def test_a_deleted_topic_is_gone_with_the_next_scrape(tmp_path: Path) -> None:
    with DevCluster(tmp_path) as cluster:
        server = ("-n", cluster.address)
        broker = cluster.master.address
        limits = ("--wait", "120", "--min-interval", "0")
        with exporter(cluster.address, *limits) as (url, process):
            created = run_admin("updateTopic", "-b", broker, "-t", "orders", *server)
            assert created.status == 0, created
            text = get(url, "application/openmetrics-text")
            offsets = {
                sample.labels["topic"]: sample.value
                for family in openmetrics_families(text)
                for sample in family.samples
                if family.name == "rocketmq_producer_offset"
            }
            assert offsets["orders"] == 0

            gone = run_admin("deleteTopic", "-c", "DefaultCluster", "-t", "orders", *server)
            assert gone.status == 0, gone
            text = get(url)
            assert "orders" not in text
            assert "\nrocketmq_exporter_up 1.0\n" in text

            cluster.master.kill()
            assert "\nrocketmq_exporter_up 0.0\n" in get(url)  # it had the name server in it

            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


def test_a_port_in_use_ends_the_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [*PROGRAM, "-n", "127.0.0.1:1", "--listen", listen],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    assert ended.returncode == 1
    assert "in use" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_invalid_settings_end_the_program() -> None:
    ended = subprocess.run(
        [*PROGRAM, "-n", "nowhere"], capture_output=True, text=True, check=False, timeout=120
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("rocketwire-exporter: ")
