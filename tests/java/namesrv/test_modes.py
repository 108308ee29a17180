"""Modes of the whole name server, compared with Java's: the same bytes to both, the same responses."""

from pathlib import Path

import pytest

from tests.peers import raw_call
from tests.support.name_servers import name_server, start_all

Question = tuple[int, dict[str, str] | None]
ITEM = {"namespace": "PROJECT_CONFIG", "key": "127.0.0.1"}
MODES: dict[str, tuple[dict[str, object], list[Question]]] = {
    "waits": (
        {"needWaitForService": "true", "waitSecondsForService": 600},
        [(105, {"topic": "T"}), (105, None), (106, None), (206, None)],
    ),
    "cluster test": (
        {"clusterTest": "true"},
        [
            *((code, {"topic": "Nope"}) for code in (105, 106, 103, 319, 9999)),
            *((106, None), (105, {"topic": ""})),
        ],
    ),
    "group under the address of a client": (
        {"kvConfigPath": "kvConfig.json"},
        [
            (100, {**ITEM, "value": "project-a"}),
            *((101, ITEM), (101, {"namespace": "PROJECT_CONFIG"}), (101, {**ITEM, "key": ""})),
            *((219, {"namespace": "PROJECT_CONFIG"}), (102, ITEM), (101, ITEM)),
        ],
    ),
}


@pytest.mark.parametrize("mode", MODES)
def test_ours_responds_in_each_mode_as_java_does(java: None, tmp_path: Path, mode: str) -> None:
    options, questions = MODES[mode]

    def ask_all(port: int) -> list[raw_call.Answer]:
        return [raw_call.ask(port, code, fields) for code, fields in questions]

    java_server, our_server = (
        name_server(product, tmp_path / product, options) for product in ("java", "ours")
    )
    with start_all(java_server, our_server):
        assert ask_all(our_server.port) == ask_all(java_server.port)
