"""The verbs of ``rocketwire-store`` on stores of real brokers."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.peers.peers import CURRENT
from tests.support.file_programs import run_store
from tests.support.stores import BrokerStore, Pulled, damage
from tests.support.stores.fixtures import OpenStore
from tests.support.stores.truth import Sent

# ---------------------------------------------------------------- info


def test_info_names_the_release_and_the_end_of_the_broker(intact: BrokerStore) -> None:
    report = run_store("info", "--json", intact.root).report

    assert report["release"] == ("4.x" if intact.truth.release == "4.9.4" else "5.5 or newer")
    assert report["stopped"] == "orderly"
    assert report["in_use"] is False
    assert report["missing"] == []
    assert report["log_file_size"] == int(intact.truth.settings["mappedFileSizeCommitLog"])


def test_info_for_people_has_words_and_no_empty_lines(intact: BrokerStore) -> None:
    output = run_store("info", intact.root).text

    values = dict(line.split(maxsplit=1) for line in output.splitlines() if line)
    assert values["in_use"] == "no"
    assert values["log_file_size"] == f"{int(intact.truth.settings['mappedFileSizeCommitLog']):,}"
    assert "missing" not in values


def test_info_shows_a_kill_and_missing_files(store: BrokerStore) -> None:
    (store.root / "abort").write_text("123")
    (store.root / "checkpoint").unlink()
    (store.root / "config" / "topics.json").unlink()

    report = run_store("info", "--json", store.root).report

    assert report["stopped"].startswith("killed")
    assert report["missing"] == ["checkpoint", "config/topics.json"]


def test_info_describes_each_of_several_stores(intact: BrokerStore, open_store: OpenStore) -> None:
    rocksdb = open_store(CURRENT, "rocksdb").root

    reports = run_store("info", "--json", intact.root, rocksdb, rocksdb).lines

    assert [report["paths"] for report in reports] == [[str(intact.root)], [str(rocksdb)]]
    assert reports[1]["kind"] == ["commit log", "queues in RocksDB", "configuration in RocksDB"]
    assert reports[1]["databases"] == [
        "config/consumerOffsets",
        "config/subscriptionGroups",
        "config/topics",
        "consumequeue",
        "rocksdbstore",
    ]
    assert (reports[1]["topics"], reports[1]["queues"], reports[1]["missing"]) == (4, 8, [])


# ---------------------------------------------------------------- stat


def test_stat_counts_what_the_broker_answers(intact: BrokerStore) -> None:
    lines = run_store("stat", "--json", intact.root).lines

    pulled = intact.truth.pulled
    sizes = Counter[str]()
    for message in pulled:
        sizes[message.topic] += message.size
    counts = Counter(message.topic for message in pulled)
    assert {line["topic"]: line["messages"] for line in lines} == counts
    assert {line["topic"]: line["bytes"] for line in lines} == sizes
    first_time = min(message.store_timestamp for message in pulled)
    assert min(line["first_stored"] for line in lines) == first_time


@pytest.mark.parametrize("by", ["queue", "tag", "hour", "kind", "file"])
def test_each_way_to_count_counts_every_message(intact: BrokerStore, by: str) -> None:
    lines = run_store("stat", "--json", "--by", by, intact.root).lines

    pulled = intact.truth.pulled
    assert sum(line["messages"] for line in lines) == len(pulled)
    if by == "queue":
        queues = Counter((message.topic, message.queue_id) for message in pulled)
        assert {(line["topic"], line["queue"]): line["messages"] for line in lines} == queues
    if by == "tag":
        tags = Counter((message.topic, message.properties.get("TAGS")) for message in pulled)
        assert {(line["topic"], line["tag"]): line["messages"] for line in lines} == tags


def test_tables_have_a_line_for_each_group_and_a_total(intact: BrokerStore) -> None:
    lines = run_store("stat", intact.root).text.splitlines()

    assert lines[0].split()[:3] == ["topic", "messages", "bytes"]
    assert lines[-1].split()[:2] == ["total", str(len(intact.truth.pulled))]


# ---------------------------------------------------------------- messages


CHOICES: list[tuple[str, Callable[[Pulled], bool]]] = [
    ("--topic orders", lambda m: m.topic == "orders"),
    ("--topic orders --queue 2", lambda m: (m.topic, m.queue_id) == ("orders", 2)),
    ("--offsets 3:5", lambda m: 3 <= m.queue_offset <= 5),
    ("--tag Aa", lambda m: m.properties.get("TAGS") == "Aa"),
    ("--key shared", lambda m: "shared" in m.properties.get("KEYS", "").split()),
]


@pytest.mark.parametrize(("options", "is_chosen"), CHOICES)
def test_options_choose_messages(
    options: str, is_chosen: Callable[[Pulled], bool], intact: BrokerStore
) -> None:
    assert list_offsets(intact, *options.split()) == choose_offsets(intact, is_chosen)


def list_offsets(store: BrokerStore, *options: str) -> set[int]:
    """Physical offsets of the messages that the command lists."""
    lines = run_store("messages", "--json", *options, store.root).lines
    return {line["commit_log_offset"] for line in lines}


def choose_offsets(store: BrokerStore, is_chosen: Callable[[Pulled], bool]) -> set[int]:
    return {message.physical_offset for message in store.truth.pulled if is_chosen(message)}


def test_places_times_ids_and_expressions_choose_messages(intact: BrokerStore) -> None:
    pulled = intact.truth.pulled
    middle, time = pulled[len(pulled) // 2], pulled[len(pulled) // 2].store_timestamp

    assert list_offsets(intact, "--physical", f":{middle.physical_offset}") == choose_offsets(
        intact, lambda m: m.physical_offset <= middle.physical_offset
    )
    assert list_offsets(intact, "--begin", str(time)) == choose_offsets(
        intact, lambda m: m.store_timestamp >= time
    )
    assert list_offsets(intact, "--end", str(time)) == choose_offsets(
        intact, lambda m: m.store_timestamp <= time
    )
    assert list_offsets(intact, "--sql", "TAGS = 'Aa' and KEYS contains 'order'") == choose_offsets(
        intact,
        lambda m: m.properties.get("TAGS") == "Aa" and "order" in m.properties.get("KEYS", ""),
    )
    sent = intact.truth.sent[3]
    for message_id in (sent.offset_msg_id, sent.unique_key):
        assert list_offsets(intact, "--id", message_id) == {int(sent.offset_msg_id[-16:], 16)}
    assert list_offsets(intact, "--limit", "7") == {
        message.physical_offset for message in pulled[:7]
    }


@pytest.mark.parametrize("form", ["text", "base64", "none"])
def test_table_shows_bodies_in_the_chosen_form(intact: BrokerStore, form: str) -> None:
    options = ("--limit", 1, "--columns", "topic,keys,store_timestamp", "--body", form)
    header, line = run_store("messages", *options, intact.root).text.splitlines()

    assert header.split()[:3] == ["topic", "keys", "store_timestamp"]
    assert ("quick brown" in line) == (form == "text")


def test_damage_is_status_1_and_all_other_messages_are_shown(store: BrokerStore) -> None:
    damage.put(damage.log_files(store.root)[0], store.truth.pulled[5].physical_offset, b"\xff" * 8)

    output = run_store("messages", "--json", store.root, status=1)

    assert len(output.lines) == len(store.truth.pulled) - 1
    assert "damaged" in output.err
    run_store("stat", store.root, status=1)


def test_time_may_be_written_as_iso(intact: BrokerStore) -> None:
    assert run_store("messages", "--json", "--end", "2020-01-31", intact.root).lines == []
    assert list_offsets(intact, "--begin", "2020-01-31T00:00:00+02:00")


def test_range_without_messages_is_success(intact: BrokerStore) -> None:
    run_store("stat", "--topic", "orders", "--end", "2020-01-31", intact.root)


@pytest.mark.parametrize("verb", ["messages", "stat", "export"])
def test_messages_of_several_stores_are_read_together(verb: str, open_store: OpenStore) -> None:
    stores = [open_store(CURRENT, kind) for kind in ("plain", "ipv6")]
    options = () if verb == "export" else ("--json",)

    lines = run_store(verb, *options, *(store.root for store in stores)).lines

    counts = [line.get("messages", 1) for line in lines]
    assert sum(counts) == sum(len(store.truth.pulled) for store in stores)


def test_folders_of_one_log_outside_its_root_are_one_store(
    store: BrokerStore, tmp_path: Path
) -> None:
    file = damage.log_files(store.root)[1]
    file.rename(tmp_path / file.name)

    lines = run_store("messages", "--json", store.root, tmp_path).lines
    report = run_store("info", "--json", store.root, tmp_path).report

    assert len(lines) == len(store.truth.pulled)
    assert "several paths" in report["kind"]


# ---------------------------------------------------------------- get


def find_sent(store: BrokerStore) -> Sent:
    """The first message with the key of an order."""
    return next(sent for sent in store.truth.sent if "order-" in "".join(sent.keys[:1]))


def test_one_message_is_shown_byte_by_byte(intact: BrokerStore) -> None:
    message = next(
        message
        for message in intact.truth.pulled
        if message.topic == "orders" and message.properties.get("KEYS")
    )

    place = f"orders:{message.queue_id}:{message.queue_offset}"
    text = run_store("get", "--at", place, intact.root).text

    assert "by consume queue" in text
    assert f"KEYS = {message.properties['KEYS']}" in text
    assert "holds" in text


def test_message_is_found_by_offset_id_and_key(intact: BrokerStore) -> None:
    sent = find_sent(intact)
    offset = int(sent.offset_msg_id[-16:], 16)
    for option, value, source in (
        ("--physical", offset, "physical offset"),
        ("--id", sent.offset_msg_id, "offset message id"),
        ("--id", sent.unique_key, "index file"),
        ("--key", sent.keys[0], "index file"),
    ):
        message = run_store("get", "--json", option, value, intact.root).report
        assert (message["commit_log_offset"], message["source"]) == (offset, source)
        assert message["bytes"].startswith(f"{message['store_size']:08x}daa320a7")


def test_log_answers_where_queues_and_index_are_gone(store: BrokerStore) -> None:
    shutil.rmtree(store.root / "index")
    shutil.rmtree(store.root / "consumequeue")
    sent = find_sent(store)

    by_key = run_store("get", "--json", "--key", sent.keys[0], store.root).report
    place = f"{sent.topic}:{sent.queue_id}:{sent.queue_offset}"
    by_place = run_store("get", "--json", "--at", place, store.root).report

    assert by_key["source"] == "scan of the log"
    assert by_place["offset_msg_id"] == sent.offset_msg_id


def test_short_index_file_costs_a_search_and_no_message(store: BrokerStore) -> None:
    for path in (store.root / "index").iterdir():
        path.write_bytes(path.read_bytes()[:470])
    sent = find_sent(store)

    message = run_store("get", "--json", "--key", sent.keys[0], store.root).report

    assert (message["offset_msg_id"], message["source"]) == (sent.offset_msg_id, "scan of the log")


def test_missing_message_is_status_1(intact: BrokerStore) -> None:
    assert "no such message" in run_store("get", "--key", "never", intact.root, status=1).err


def test_key_after_the_last_message_ends_the_search(store: BrokerStore) -> None:
    place = damage.places(damage.log_files(store.root)[-1])[-1]
    damage.put(place.file, place.position + place.size, b"rest with KEYS\x01order-1\x02")
    words = ("messages", "--json", "--key", "order-1")

    lines = run_store(*words, store.root, status=1).lines
    of_queue_0 = run_store(*words, "--queue", "0", store.root, status=1).lines

    assert [line["keys"] for line in lines] == [["order-1"]]
    assert of_queue_0 == []


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("info nowhere", "nowhere: no such file or directory"),
        ("info .", "no commit log, queue or configuration"),
        ("messages --columns nonsense STORE", "no column 'nonsense'"),
        ("messages --sql a! STORE", "invalid SQL92 expression"),
        ("get --at orders STORE", "must be TOPIC:QUEUE:OFFSET"),
    ],
)
def test_impossible_request_is_status_2_and_one_line(
    intact: BrokerStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [intact.root if word == "STORE" else word for word in words.split()]

    error = run_store(*arguments, status=2).err

    assert error.startswith("rocketwire-store: ")
    assert text in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--topic order", "the store has no topic 'order'; did you mean orders?"),
        ("--topic order --begin 2020-01-01", "the store has no topic 'order'"),
        ("--topic orders --tag never", "no message has 'never'"),
        ("--key never", "no message has 'never'"),
    ],
)
@pytest.mark.parametrize(
    "verb",
    ["messages", "stat", "export -o out.parquet", "export -o out/", "replay -n a:1 --dry-run"],
)
def test_name_that_no_message_has_is_status_1_and_writes_nothing(
    intact: BrokerStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    options: str,
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    output = run_store(*verb.split(), *options.split(), intact.root, status=1)

    assert (output.out, output.err.count("\n")) == (b"", 1)
    assert text in output.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["--begin soon", "--offsets a:b", "--queue -1"])
def test_wrong_option_is_refused_by_name(words: str) -> None:
    error = run_store("messages", *words.split(), "store", status=2).err

    assert words.split()[0] in error


@pytest.mark.parametrize("verb", ["get --at t:0:0", "check", "pending", "rebuild out"])
def test_other_verbs_take_one_store(verb: str, open_store: OpenStore) -> None:
    roots = [open_store(CURRENT, kind).root for kind in ("plain", "ipv6")]

    assert "these are several stores" in run_store(*verb.split(), *roots, status=2).err
