"""Producers across forks, in real processes: a typed error or a new client, never a shared socket."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.java.facades.test_facades import new_topic
from tests.peers.client_settings import PATIENCE
from tests.peers.cluster import JavaCluster

pytestmark = [pytest.mark.java, pytest.mark.process]

ROOT = Path(__file__).parents[3]


def fork(cluster: JavaCluster, *options: str) -> list[str]:
    command = [sys.executable, "-m", "tests.java.facades.forking", cluster.address]
    ended = subprocess.run(
        [*command, new_topic(cluster), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_a_forked_client_raises_a_typed_error_and_shares_no_socket(
    java_cluster: JavaCluster,
) -> None:
    assert fork(java_cluster) == ["sockets: 0", "child: ClientForkedError", "parent: SEND_OK"]


def test_a_forked_client_opens_itself_again_if_configured(java_cluster: JavaCluster) -> None:
    assert fork(java_cluster, "reopen") == ["sockets: 0", "child: SEND_OK", "parent: SEND_OK"]


@contextmanager
def server(command: list[str], environment: dict[str, str], log: Path) -> Generator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise


def test_gunicorn_sends_from_its_workers_with_a_preloaded_producer(
    java_cluster: JavaCluster, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2"]
    command += ["--bind", f"127.0.0.1:{port}", "tests.java.facades.prefork_app:application"]
    environment = {"NAMESRV_ADDR": java_cluster.address, "FACADE_TOPIC": new_topic(java_cluster)}
    log = tmp_path / "gunicorn.log"
    answers: set[str] = set()
    with server(command, environment, log):
        end = time.monotonic() + PATIENCE
        while len(answers) < 2 and time.monotonic() < end:
            with (
                suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/x", timeout=30) as answer,
            ):
                answers.add(answer.read().decode())
    assert len(answers) == 2, log.read_text()
    assert {text.split()[0] for text in answers} == {"SEND_OK"}


def test_celery_sends_from_its_prefork_workers(java_cluster: JavaCluster, tmp_path: Path) -> None:
    for folder in ("queue", "control", "results"):
        (tmp_path / folder).mkdir()
    environment = {
        "NAMESRV_ADDR": java_cluster.address,
        "FACADE_TOPIC": new_topic(java_cluster),
        "FACADE_FOLDER": str(tmp_path),
    }
    app = "tests.java.facades.prefork_app:celery_app"
    command = [sys.executable, "-m", "celery", "-A", app, "worker", "--pool", "prefork"]
    command += ["--concurrency", "2", "--without-gossip", "--without-mingle"]
    ask = (
        "from tests.java.facades.prefork_app import celery_app as app;"
        "results = [app.send_task('send', [str(n)]) for n in range(4)];"
        f"print([r.get(timeout={PATIENCE})[:7] for r in results])"
    )
    log = tmp_path / "celery.log"
    with server(command, environment, log):
        ended = subprocess.run(
            [sys.executable, "-c", ask],
            cwd=ROOT,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE + 60,
            check=False,
        )
    assert ended.stdout.strip() == str(["SEND_OK"] * 4), ended.stderr + log.read_text()
