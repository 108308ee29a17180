"""CVE-2023-37582 and what is near it: no request writes a file of its choice, or what it likes into ours."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.namesrv.security import server_process
from tests.integration.namesrv.security.server_process import NO_PERMISSION, update
from tests.support.name_servers import OurNameServer

pytestmark = pytest.mark.process
BLACK_LIST = "Can not update config in black list."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OurNameServer, Path]]:
    folder = tmp_path_factory.mktemp("updates")
    with server_process.server(folder, "auto", rocketwire__allowConfigUpdate="true") as server:
        yield server, folder


def refuse(place: tuple[OurNameServer, Path], text: str | bytes) -> object:
    server, folder = place
    files, settings = server_process.files(folder), server_process.show_config(server.port)
    answer = update(server.port, text)

    assert answer.header["code"] == NO_PERMISSION
    assert server_process.files(folder) == files
    assert server_process.show_config(server.port) == settings
    return answer.header.get("remark")


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
def test_T_37582_no_spelling_of_a_path_or_the_black_list_is_updated(
    place: tuple[OurNameServer, Path], text: str | bytes
) -> None:
    assert refuse(place, text) == BLACK_LIST


def test_T_37582_without_leave_nothing_is_updated(tmp_path: Path) -> None:
    with server_process.server(tmp_path, "auto") as server:
        for text in ("enableTopicList=false", "configStorePath=elsewhere", "rocketwire.driver=x"):
            refuse((server, tmp_path), text)


@pytest.mark.parametrize("mark", ["\\n", "\\u0000", "\u2028", "\x00", "\\u0085"])
def test_T_inject_a_value_has_no_control_characters(
    place: tuple[OurNameServer, Path], mark: str
) -> None:
    remark = refuse(place, f"productEnvName=center{mark}rocketwire.allowConfigUpdate=true")

    # Java reads the UTF-8 bytes of a character beyond Latin-1 as Latin-1, with its controls
    assert remark == "Can not update config: productEnvName is no such text."


def test_T_inject_a_restart_reads_only_accepted_values(tmp_path: Path) -> None:
    with server_process.server(tmp_path, "auto", rocketwire__allowConfigUpdate="true") as server:
        hidden = "a b=c\\u00e9#d!e\\:f\\=g\\\\"
        answer = update(server.port, f"productEnvName={hidden}\nwaitSecondsForService=46")
        assert answer.header["code"] == 0
        files = server_process.show_config(server.port)
        for text in ("x=\\nlistenPort=1", "x=1\nrocketwire.driver=portable"):
            update(server.port, text)

    with server:
        assert server_process.show_config(server.port) == files
    assert files["productEnvName"] == "a b=cé#d!e:f=g\\"
    assert "updateConfig called by 127.0.0.1:" in server.log
    assert "waitSecondsForService: 45 -> 46" in server.log
