"""``doctor`` and ``diff`` with Java's name server and brokers, and with ours beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.client.interop.messages import unique
from tests.support.processes import free_ports
from tests.tools.admin.processes import run

if TYPE_CHECKING:
    from tests.support.javacluster import JavaCluster
    from tests.support.javapeers import JavaPeer

pytestmark = [pytest.mark.java, pytest.mark.slow]

PATIENT = ("--request-timeout", "120")


def test_doctor_finds_nothing_wrong_with_a_cluster_that_is_well_and_a_name_server_that_is_gone(
    java_cluster: JavaCluster, java_peer: JavaPeer
) -> None:
    topic = unique("doctor")
    java_peer.admin(
        java_cluster.address, f"updateTopic -b {java_cluster.master.address} -t {topic} -r 2 -w 2"
    )
    nobody = f"127.0.0.1:{free_ports()}"

    words = ("doctor", "-o", "json", "-t", topic, *PATIENT)
    well = run(*words, "-n", java_cluster.address)
    ill = run(*words, "-n", f"{java_cluster.address};{nobody}")

    assert (0, "") == (well.status, well.complaint)
    assert [
        {
            "status": "ok",
            "kind": "nameServer",
            "name": java_cluster.address,
            "finding": "answers, V5_5_0",
        },
        {
            "status": "ok",
            "kind": "broker",
            "name": "broker-a",
            "finding": f"master {java_cluster.master.address} answers, V5_5_0",
        },
        {"status": "ok", "kind": "topics", "name": "all", "finding": "1, something to say of 0"},
    ] == well.rows
    assert (1, "") == (ill.status, ill.complaint)
    (problem,) = (row for row in ill.rows if row["status"] == "problem")
    assert ("nameServer", nobody) == (problem["kind"], problem["name"])


def test_diff_of_a_server_and_itself_is_nothing_and_of_one_that_is_gone_is_an_error(
    java_cluster: JavaCluster,
) -> None:
    here = java_cluster.address

    same = run("diff", here, here, "-o", "json", *PATIENT)
    gone = run("diff", here, f"127.0.0.1:{free_ports()}")

    assert (0, [], "") == (same.status, same.rows, same.complaint)
    assert 3 == gone.status
    assert re.fullmatch(r"rocketwire-admin: .*127\.0\.0\.1.*\n", gone.complaint)
