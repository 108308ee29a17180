"""CVE-2023-37582 and what is near it: no request writes a file of its choice, or what it likes into ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.integration.namesrv.security import server_process
from tests.integration.namesrv.security.server_process import NO_PERMISSION, update

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.name_servers import OurNameServer

pytestmark = pytest.mark.process
BLACK_LIST = "Can not update config in black list."


@pytest.fixture(scope="module", params=["portable", "reactor"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[OurNameServer, Path]]:
    """A server that lets its configuration be updated, and the folder that holds all its files."""
    folder = tmp_path_factory.mktemp("updates")
    (folder / "witness").write_text("untouched")
    with server_process.server(
        folder, request.param, rocketwire__allowConfigUpdate="true"
    ) as server:
        yield server, folder


def refuse(place: tuple[OurNameServer, Path], text: str | bytes) -> str | None:
    """Sends an update that must be refused; returns the remark."""
    server, folder = place
    before, settings = server_process.files(folder), server_process.show_config(server.port)
    answer = update(server.port, text)

    assert answer.header["code"] == NO_PERMISSION
    assert server_process.files(folder) == before
    assert server_process.show_config(server.port) == settings
    assert not (folder / "elsewhere").exists()
    remark = answer.header.get("remark")
    assert remark is None or isinstance(remark, str)
    return remark


@pytest.mark.parametrize(
    "text",
    [
        "configStorePath=elsewhere\n",
        "kvConfigPath=elsewhere\n",
        "rocketmqHome=elsewhere\n",
        "configBlackList=\n",
        "configStorePathName=elsewhere\n",  # the name that the first fix took for it
        "enableTopicList=false\nconfigStorePath=elsewhere\n",
        "configStorePath=elsewhere\nenableTopicList=false\n",
    ],
)
def test_T_37582_a_to_f_no_path_and_not_the_black_list_is_updated(
    place: tuple[OurNameServer, Path], text: str
) -> None:
    assert refuse(place, text) == BLACK_LIST


@pytest.mark.parametrize(
    "text",
    [
        "configStorePath:elsewhere",
        "configStorePath elsewhere",
        "config\\u0053torePath=elsewhere",
        "configStore\\\n   Path=elsewhere",
        "configStorePath=x\nconfigStorePath=elsewhere",
        "c\\onfigStorePath=elsewhere",
        "  \tconfigStorePath=elsewhere",
        "#\\\nconfigStorePath=elsewhere",
        "enableTopicList=true\rconfigStorePath=elsewhere",
        b"\xff=\xfe\nconfigStorePath\x0c=elsewhere",
    ],
)
def test_T_37582_g_no_spelling_of_a_path_gets_through(
    place: tuple[OurNameServer, Path], text: str | bytes
) -> None:
    assert refuse(place, text) == BLACK_LIST


def test_T_37582_h_a_good_update_and_then_a_bad_one(place: tuple[OurNameServer, Path]) -> None:
    server, _ = place
    assert update(server.port, "enableTopicList=true").header["code"] == 0
    assert refuse(place, "configStorePath=elsewhere") == BLACK_LIST


@pytest.mark.parametrize("driver", ["portable", "reactor"])
def test_T_37582_without_leave_nothing_is_updated(tmp_path: Path, driver: str) -> None:
    with server_process.server(tmp_path, driver) as server:
        place = server, tmp_path
        for text in ("enableTopicList=false", "configStorePath=elsewhere", "rocketwire.driver=x"):
            refuse(place, text)


@pytest.mark.parametrize("mark", ["\\n", "\\r", "\\u2028", "\\u0000", "\u2028", "\x00", "\\u0085"])
def test_T_inject_a_value_has_no_control_characters(
    place: tuple[OurNameServer, Path], mark: str
) -> None:
    remark = refuse(place, f"productEnvName=center{mark}rocketwire.allowConfigUpdate=true")
    # the UTF-8 bytes of a character beyond Latin-1 are Latin-1 characters to Java, controls
    # included
    assert remark == "Can not update config: productEnvName is no such text."


def test_T_inject_a_restart_reads_back_what_was_set_and_nothing_else(tmp_path: Path) -> None:
    with server_process.server(tmp_path, "auto", rocketwire__allowConfigUpdate="true") as server:
        hidden = "a b=c\\u00e9#d!e\\:f\\=g\\\\"
        answer = update(server.port, f"productEnvName={hidden}\nenableTopicList=false")
        assert answer.header["code"] == 0
        before = server_process.show_config(server.port)
        for text in ("x=\\nlistenPort=1", "x=1\nrocketwire.driver=portable"):
            update(server.port, text)
    server.start()
    try:
        after = server_process.show_config(server.port)
    finally:
        server.stop()

    assert after == before
    assert after["productEnvName"] == "a b=cé#d!e:f=g\\"


def test_an_accepted_update_is_one_line_of_the_log_with_both_values(
    place: tuple[OurNameServer, Path],
) -> None:
    server, _ = place
    assert update(server.port, "waitSecondsForService=46").header["code"] == 0
    assert update(server.port, "waitSecondsForService=45").header["code"] == 0

    lines = [line for line in server.log.splitlines() if "waitSecondsForService" in line]
    assert "waitSecondsForService: 45 -> 46" in lines[-2]
    assert "waitSecondsForService: 46 -> 45" in lines[-1]
    assert "updateConfig called by 127.0.0.1:" in lines[-1]
