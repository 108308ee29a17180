"""The offsets of micro-batches, also after a restart."""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from rocketwire_tools.spark.option_values import OptionError
from rocketwire_tools.spark.topics.offsets import Bounds, Queue
from rocketwire_tools.spark.topics.options import read_options
from rocketwire_tools.spark.topics.planning import UnreachableError
from rocketwire_tools.spark.topics.streaming import GONE, ROUTES, Stream
from tests.unit.tools.spark.topics.test_planning import A0, B0, Answers


class Cluster(Answers):
    """A cluster whose queues grow and vanish."""

    def __init__(self, **bounds: tuple[int, int]) -> None:
        super().__init__(**bounds)
        self.commits: list[dict[Queue, int]] = []
        self.asked: list[set[Queue]] = []  #: queues of each question for bounds
        self.size = 100.0

    def bounds(
        self, queues: Iterable[Queue], *, may_be_missing: bool = False
    ) -> dict[Queue, Bounds]:
        self.asked.append(set(queues))
        return {queue: self.table[queue] for queue in queues if queue in self.table}

    def commit(self, offsets: Mapping[Queue, int]) -> None:
        self.commits.append(dict(offsets))

    def mean_sizes(self, begins: Mapping[Queue, int]) -> dict[str, float]:
        return {"t": self.size}


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Query:
    """A stream as Spark drives it, with its offset log."""

    def __init__(self, cluster: Cluster, **options: str) -> None:
        self.cluster = cluster
        self.clock = Clock()
        self.sleep: Callable[[float], None] = self.clock.sleep
        self.options = {
            "nameServers": "n:1",
            "subscribe": "t",
            "startingOffsets": "earliest",
            **options,
        }
        self.log: list[str] = []
        self.restart()

    def restart(self) -> None:
        """Start a new driver with the same checkpoint."""
        self.stream = Stream(
            read_options(self.options),
            self.cluster,
            self.clock,
            lambda seconds: self.sleep(seconds),
        )

    def start(self) -> dict[str, Any]:
        return json.loads(self.log[-1]) if self.log else self.stream.initial()

    def trigger(self, *, is_limited: bool = True) -> dict[str, tuple[int, int]] | None:
        """Plan a batch; None if there is nothing to do."""
        start = self.start()
        end = json.dumps(self.stream.latest(start, is_limited=is_limited))
        if end == json.dumps(start):
            return None
        self.log.append(end)
        return self.ranges()

    def ranges(self) -> dict[str, tuple[int, int]]:
        """The ranges of the last batch; those of a new driver are the same."""
        start = json.loads(self.log[-2]) if len(self.log) > 1 else self.stream.initial()
        ranges = self.stream.ranges(start, json.loads(self.log[-1]))
        return {f"{part.broker}{part.queue_id}": (part.begin, part.end) for part in ranges}


def test_group_follows_the_commits_of_spark() -> None:
    query = Query(Cluster(a0=(0, 4)), commitGroup="true")
    query.trigger()
    assert query.cluster.commits == []
    query.cluster.table[A0] = Bounds(0, 6)
    query.trigger()
    query.stream.commit(json.loads(query.log[0]))
    query.trigger()

    assert query.cluster.commits == [{A0: 4}, {A0: 6}]
    without_commits = Query(Cluster(a0=(0, 4)))
    without_commits.trigger()
    without_commits.stream.commit(json.loads(without_commits.log[0]))
    assert without_commits.cluster.commits == []


def test_late_slave_is_no_recreated_topic(capsys: pytest.CaptureFixture[str]) -> None:
    query = Query(Cluster(a0=(0, 40), b0=(0, 4)), failOnDataLoss="false")
    query.trigger()
    query.cluster.table[A0] = Bounds(0, 39, is_master=False)
    query.cluster.table[B0] = Bounds(0, 5)

    assert query.trigger() == {"b0": (4, 5)}
    assert (
        "topic t, broker a, queue 0: no broker answers, or only a slave" in capsys.readouterr().err
    )
    now = query.clock.now
    assert query.trigger() is None
    assert query.clock.now == now  # other queues do not wait for it
    query.clock.now += GONE
    assert query.trigger() is None
    assert "messages 40 to the end are lost, no broker has" in capsys.readouterr().err
    query.cluster.table[A0] = Bounds(0, 42)
    assert query.trigger() == {"a0": (40, 42)}


class NameServers:
    """Name servers that may be away."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.are_away = True
        self.times: list[float] = []
        self._topics = query.cluster.topics
        query.cluster.topics = self.topics  # type: ignore[method-assign]  # a fake

    def topics(self) -> tuple[str, ...]:
        self.times.append(self.query.clock.now)
        if self.are_away:
            raise UnreachableError("no name server answers")
        return self._topics()


def test_absent_name_servers_are_queried_less_and_less_often() -> None:
    query = Query(Cluster(a0=(0, 4)))
    query.trigger()
    names = NameServers(query)
    for _ in range(400):
        query.trigger()
        query.clock.now += 1

    pauses = [later - earlier for earlier, later in itertools.pairwise(names.times)]
    assert pauses == [10, 20, 40, 60, 60, 60, 60, 60]
    names.are_away = False
    query.clock.now += 60
    query.trigger()
    names.are_away = True
    names.times.clear()
    for _ in range(25):
        query.trigger()
        query.clock.now += 1

    assert [later - earlier for earlier, later in itertools.pairwise(names.times)] == [10]


def test_broker_is_not_lost_while_no_name_server_answers() -> None:
    query = Query(Cluster(a0=(0, 4), b0=(0, 4)), failOnDataLoss="false")
    query.trigger()
    names = NameServers(query)
    query.clock.now += ROUTES
    query.trigger()
    del query.cluster.table[B0]
    assert query.trigger() is None
    query.clock.now += GONE

    with pytest.raises(UnreachableError, match="no name server answers"):
        query.trigger()

    names.are_away = False
    assert query.trigger() is None
    query.cluster.table[B0] = Bounds(0, 5)
    assert query.trigger() is None  # asked again after ten seconds
    query.clock.now += ROUTES
    assert query.trigger() == {"b0": (4, 5)}


def test_failed_commit_of_a_group_stops_no_stream(capsys: pytest.CaptureFixture[str]) -> None:
    query = Query(Cluster(a0=(0, 4)), commitGroup="true", group="readers")
    query.trigger()
    commit = query.cluster.commit

    def fail(offsets: Mapping[Queue, int]) -> None:
        raise UnreachableError("broker a does not answer")

    query.cluster.commit = fail  # type: ignore[method-assign]  # a fake
    query.cluster.table[A0] = Bounds(0, 5)
    assert query.trigger() == {"a0": (4, 5)}
    assert "broker a does not answer; group readers stays behind" in capsys.readouterr().err
    query.cluster.commit = commit  # type: ignore[method-assign]  # a fake
    assert query.trigger() is None

    assert query.cluster.commits == [{A0: 5}]


@pytest.mark.parametrize(
    ("old_options", "new_options"),
    [
        ({"subscribe": "t"}, {"subscribe": "u"}),
        ({"subscribePattern": "t"}, {"subscribePattern": "u"}),
        ({"assign": '{"t": {"a": [0], "b": [0]}}'}, {"assign": '{"t": {"b": [0]}}'}),
    ],
    ids=["subscribe", "pattern", "assign"],
)
def test_checkpoint_of_other_topics_is_refused_or_they_are_left(
    old_options: dict[str, str], new_options: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    query = Query(Cluster(a0=(0, 4), b0=(0, 4)))
    del query.options["subscribe"]
    query.options.update(old_options)
    query.restart()
    query.trigger()
    query.options = {name: text for name, text in query.options.items() if name not in old_options}
    query.options.update(new_options)
    query.restart()
    query.cluster.table = {Queue("u", "b", 0): Bounds(0, 3), B0: Bounds(0, 4)}
    if "assign" not in new_options:
        del query.cluster.table[B0]

    with pytest.raises(
        OptionError,
        match="offsets of topic t, broker a, queue 0, which the options do not choose: choose it",
    ):
        query.trigger()
    assert query.clock.now == 1000

    query.options["failOnDataLoss"] = "false"
    query.restart()
    query.trigger()
    query.trigger()
    assert query.clock.now == 1000
    assert json.loads(query.log[-1])["t"]["a"] == {"0": 4}
    assert capsys.readouterr().err.count("it is left where it is") == 1
