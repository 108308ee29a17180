"""A broker that registers in parts: with us its topics appear together, with Java's name server one part after the other."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.peers import raw_call
from tests.peers.peers import JavaBroker
from tests.peers.processes import wait_until
from tests.support.name_servers import name_server
from tests.support.tap import TO_CLIENT, TO_SERVER, tapped

TOPICS = [f"Split{number:04}" for number in range(1000)]
SIZE = 20


def build_topic(name: str, queues: int = 4) -> dict[str, object]:
    numbers = {"readQueueNums": queues, "writeQueueNums": queues, "perm": 6, "topicSysFlag": 0}
    return {"topicName": name, "topicFilterType": "SINGLE_TAG", "order": False, **numbers}


def write_topics(folder: Path) -> None:
    config = folder / "store" / "config"
    config.mkdir(parents=True)
    version = {"counter": 5, "timestamp": 1700000000000}
    table = {name: build_topic(name) for name in TOPICS}
    (config / "topics.json").write_text(
        json.dumps({"dataVersion": version, "topicConfigTable": table})
    )


def count_topics(port: int) -> int:
    body = raw_call.ask(port, 206).body
    return len(set(TOPICS).intersection(json.loads(body)["topicList"]))


def test_topics_of_a_split_registration_appear_together(java: None, tmp_path: Path) -> None:
    options = {"rocketwire.splitRegistrationSize": SIZE}
    counts: list[int] = []

    def topics_are_there() -> bool:
        counts.append(count_topics(server.port))
        return counts[-1] > 0

    write_topics(tmp_path / "broker")
    with name_server("ours", tmp_path / "namesrv", options) as server, tapped(server.port) as tap:
        split = {"enableSplitRegistration": "true", "splitRegistrationSize": SIZE}
        broker = JavaBroker(tmp_path / "broker", [tap.address], split)
        with ThreadPoolExecutor(1) as pool:
            starting = pool.submit(broker.start)
            wait_until(topics_are_there, "topics")
            starting.result()
        try:
            broker.wait_registered(server.port)
            route = json.loads(raw_call.ask(server.port, 105, {"topic": TOPICS[-1]}).body)
        finally:
            broker.kill()

    parts = [
        frame
        for frame in tap.frames
        if frame.direction == TO_SERVER and b'"code":103' in frame.data
    ]
    answers = [frame for frame in tap.frames if frame.direction == TO_CLIENT]
    assert len(parts) > len(TOPICS) / SIZE
    assert all(b'"code":0' in frame.data for frame in answers[: len(parts)])
    assert set(counts) == {0, len(TOPICS)}
    assert route["brokerDatas"][0]["brokerAddrs"] == {"0": broker.address}
