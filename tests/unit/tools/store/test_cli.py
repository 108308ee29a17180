"""The verbs of ``rocketwire-store`` on stores of real brokers."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from rocketwire_tools.store.__main__ import main
from tests.peers.peers import CURRENT
from tests.support.stores import damage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.stores import BrokerStore, Pulled


def lines_of(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> list[dict[str, Any]]:
    """The JSON lines of a command that ends with status 0."""
    assert main(arguments) == 0
    return [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]


def test_info_names_the_release_and_the_end_of_the_broker(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (report,) = lines_of(capsysbinary, "info", "--json", str(plain.root))

    assert report["release"] == ("4.x" if plain.truth.release == "4.9.4" else "5.5 or newer")
    assert report["stopped"] == "orderly"
    assert report["in_use"] is False
    assert report["missing"] == []
    assert report["log_file_size"] == int(plain.truth.settings["mappedFileSizeCommitLog"])


def test_info_for_people_has_words_and_no_empty_lines(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", str(plain.root)]) == 0

    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if line]
    values = dict(lines)
    assert values["in_use"] == "no"
    assert values["log_file_size"] == f"{int(plain.truth.settings['mappedFileSizeCommitLog']):,}"
    assert "missing" not in values


def test_info_shows_a_kill_and_what_is_missing(
    copy: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (copy.root / "abort").write_text("123")
    (copy.root / "checkpoint").unlink()
    (copy.root / "config" / "topics.json").unlink()

    (report,) = lines_of(capsysbinary, "info", "--json", str(copy.root))

    assert report["stopped"].startswith("killed")
    assert report["missing"] == ["checkpoint", "config/topics.json"]


def test_stat_counts_what_the_broker_answers(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    lines = lines_of(capsysbinary, "stat", "--json", str(plain.root))

    counts = Counter(message.topic for message in plain.truth.pulled)
    sizes = Counter[str]()
    for message in plain.truth.pulled:
        sizes[message.topic] += message.size
    assert {line["topic"]: line["messages"] for line in lines} == counts
    assert {line["topic"]: line["bytes"] for line in lines} == sizes
    first = min(message.store_timestamp for message in plain.truth.pulled)
    assert min(line["first_stored"] for line in lines) == first


@pytest.mark.parametrize("by", ["queue", "tag", "hour", "kind", "file"])
def test_each_way_to_count_counts_every_message(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes], by: str
) -> None:
    lines = lines_of(capsysbinary, "stat", "--json", "--by", by, str(plain.root))

    assert sum(line["messages"] for line in lines) == len(plain.truth.pulled)
    if by == "queue":
        counts = Counter((message.topic, message.queue_id) for message in plain.truth.pulled)
        assert {(line["topic"], line["queue"]): line["messages"] for line in lines} == counts
    if by == "tag":
        tags = Counter(
            (message.topic, message.properties.get("TAGS")) for message in plain.truth.pulled
        )
        assert {(line["topic"], line["tag"]): line["messages"] for line in lines} == tags


def test_tables_have_a_line_for_each_group_and_a_total(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stat", str(plain.root)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["topic", "messages", "bytes"]
    assert lines[-1].split()[:2] == ["total", str(len(plain.truth.pulled))]


def test_options_choose_messages(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    def offsets(*options: str) -> set[int]:
        lines = lines_of(capsysbinary, "messages", "--json", *options, str(plain.root))
        return {line["commit_log_offset"] for line in lines}

    pulled = plain.truth.pulled

    def expected(**conditions: Callable[[Pulled], bool]) -> set[int]:
        return {
            message.physical_offset
            for message in pulled
            if all(test(message) for test in conditions.values())
        }

    middle = pulled[len(pulled) // 2]
    assert offsets("--topic", "orders") == expected(a=lambda m: m.topic == "orders")
    assert offsets("--topic", "orders", "--queue", "2") == expected(
        a=lambda m: m.topic == "orders", b=lambda m: m.queue_id == 2
    )
    assert offsets("--offsets", "3:5") == expected(a=lambda m: 3 <= m.queue_offset <= 5)
    assert offsets("--physical", f":{middle.physical_offset}") == expected(
        a=lambda m: m.physical_offset <= middle.physical_offset
    )
    assert offsets("--begin", str(middle.store_timestamp)) == expected(
        a=lambda m: m.store_timestamp >= middle.store_timestamp
    )
    assert offsets("--end", str(middle.store_timestamp)) == expected(
        a=lambda m: m.store_timestamp <= middle.store_timestamp
    )
    assert offsets("--tag", "Aa") == expected(a=lambda m: m.properties.get("TAGS") == "Aa")
    assert offsets("--key", "shared") == expected(
        a=lambda m: "shared" in m.properties.get("KEYS", "").split()
    )
    assert offsets("--sql", "TAGS = 'Aa' and KEYS contains 'order'") == expected(
        a=lambda m: m.properties.get("TAGS") == "Aa",
        b=lambda m: "order" in m.properties.get("KEYS", ""),
    )
    sent = plain.truth.sent[3]
    assert offsets("--id", sent.offset_msg_id) == {int(sent.offset_msg_id[-16:], 16)}
    assert offsets("--id", sent.unique_key) == {int(sent.offset_msg_id[-16:], 16)}
    assert offsets("--limit", "7") == {message.physical_offset for message in pulled[:7]}


@pytest.mark.parametrize("form", ["text", "base64", "none"])
def test_a_table_shows_bodies_in_the_form_that_is_asked_for(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    arguments = ["messages", "--limit", "1", "--columns", "topic,keys,store_timestamp"]

    assert main([*arguments, "--body", form, str(plain.root)]) == 0

    header, line = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["topic", "keys", "store_timestamp"]
    assert ("quick brown" in line) == (form == "text")


def test_one_message_is_shown_byte_by_byte(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    message = next(
        m for m in plain.truth.pulled if m.topic == "orders" and m.properties.get("KEYS")
    )

    place = f"orders:{message.queue_id}:{message.queue_offset}"
    assert main(["get", "--at", place, str(plain.root)]) == 0

    text = capsys.readouterr().out
    assert "by consume queue" in text
    assert f"KEYS = {message.properties['KEYS']}" in text
    assert "holds" in text


def test_a_message_is_found_by_offset_id_and_key(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    sent = next(sent for sent in plain.truth.sent if sent.keys and sent.keys[0].startswith("order"))
    offset = int(sent.offset_msg_id[-16:], 16)

    for option, value, source in (
        ("--physical", str(offset), "physical offset"),
        ("--id", sent.offset_msg_id, "offset message id"),
        ("--id", sent.unique_key, "index file"),
        ("--key", sent.keys[0], "index file"),
    ):
        (line,) = lines_of(capsysbinary, "get", "--json", option, value, str(plain.root))
        assert (line["commit_log_offset"], line["source"]) == (offset, source)
        assert line["bytes"].startswith(f"{line['store_size']:08x}daa320a7")


def test_the_log_answers_where_queues_and_index_are_gone(
    copy: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    import shutil

    shutil.rmtree(copy.root / "index")
    shutil.rmtree(copy.root / "consumequeue")
    sent = next(sent for sent in copy.truth.sent if sent.keys and sent.keys[0].startswith("order"))

    (line,) = lines_of(capsysbinary, "get", "--json", "--key", sent.keys[0], str(copy.root))
    assert line["source"] == "scan of the log"
    place = f"{sent.topic}:{sent.queue_id}:{sent.queue_offset}"
    (line,) = lines_of(capsysbinary, "get", "--json", "--at", place, str(copy.root))
    assert line["offset_msg_id"] == sent.offset_msg_id


def test_a_short_index_file_costs_a_search_and_no_message(
    copy: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    for path in (copy.root / "index").iterdir():
        path.write_bytes(path.read_bytes()[:470])
    sent = next(sent for sent in copy.truth.sent if sent.keys and sent.keys[0].startswith("order"))

    (line,) = lines_of(capsysbinary, "get", "--json", "--key", sent.keys[0], str(copy.root))

    assert (line["offset_msg_id"], line["source"]) == (sent.offset_msg_id, "scan of the log")


def test_damage_is_status_1_and_the_rest_is_shown(
    copy: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    victim = copy.truth.pulled[5]
    with (copy.root / "commitlog" / ("0" * 20)).open("r+b") as file:
        file.seek(victim.physical_offset)
        file.write(b"\xff" * 8)

    assert main(["messages", "--json", str(copy.root)]) == 1

    output = capsysbinary.readouterr()
    assert len(output.out.splitlines()) == len(copy.truth.pulled) - 1
    assert b"damaged" in output.err
    assert main(["stat", str(copy.root)]) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["info", "nowhere"], "nowhere: no such file or directory"),
        (["info", "."], "no commit log, queue or configuration"),
        (["messages", "--columns", "nonsense", "STORE"], "no column 'nonsense'"),
        (["messages", "--sql", "a !", "STORE"], "invalid SQL92 expression"),
        (["get", "--at", "orders", "STORE"], "must be TOPIC:QUEUE:OFFSET"),
    ],
)
def test_what_cannot_be_done_is_status_2_and_one_line(
    plain: BrokerStore,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    status = main([str(plain.root) if word == "STORE" else word for word in arguments])

    error = capsys.readouterr().err
    assert status == 2
    assert error.startswith("rocketwire-store: ")
    assert text in error
    assert error.count("\n") == 1


def test_a_message_that_is_not_there_is_status_1(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["get", "--key", "never", str(plain.root)]) == 1
    assert "no such message" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--topic", "order"], "the store has no topic 'order'; did you mean orders?"),
        (["--topic", "order", "--begin", "2020-01-01"], "the store has no topic 'order'"),
        (["--topic", "orders", "--tag", "never"], "no message has 'never'"),
        (["--key", "never"], "no message has 'never'"),
    ],
)
@pytest.mark.parametrize(
    "verb",
    ["messages", "stat", "export -o out.parquet", "export -o out/", "replay -n a:1 --dry-run"],
)
def test_a_name_that_no_message_has_is_status_1_and_writes_nothing(
    plain: BrokerStore,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    options: list[str],
    text: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main([*verb.split(), *options, str(plain.root)]) == 1

    written = capsys.readouterr()
    assert (written.out, written.err.count("\n")) == ("", 1)
    assert text in written.err
    assert not list(tmp_path.iterdir())


def test_a_range_without_messages_is_success(
    plain: BrokerStore, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stat", "--topic", "orders", "--end", "2020-01-31", str(plain.root)]) == 0


@pytest.mark.parametrize(
    "arguments", [["--begin", "soon"], ["--offsets", "a:b"], ["--queue", "-1"]]
)
def test_a_wrong_option_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(["messages", *arguments, "store"]) == 2
    assert arguments[0] in capsys.readouterr().err


def test_a_time_may_be_written_as_iso(
    plain: BrokerStore, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert (
        lines_of(capsysbinary, "messages", "--json", "--end", "2020-01-31", str(plain.root)) == []
    )
    assert lines_of(
        capsysbinary, "messages", "--json", "--begin", "2020-01-31T00:00:00+02:00", str(plain.root)
    )


def test_info_describes_each_of_several_stores(
    plain: BrokerStore,
    packed_store: Callable[[str, str], BrokerStore],
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    other = packed_store(CURRENT, "rocksdb").root

    reports = lines_of(capsysbinary, "info", "--json", str(plain.root), str(other), str(other))

    assert [report["paths"] for report in reports] == [[str(plain.root)], [str(other)]]
    assert reports[1]["kind"] == ["commit log", "queues in RocksDB", "configuration in RocksDB"]
    assert reports[1]["databases"] == [
        "config/consumerOffsets",
        "config/subscriptionGroups",
        "config/topics",
        "consumequeue",
        "rocksdbstore",
    ]
    assert (reports[1]["topics"], reports[1]["queues"], reports[1]["missing"]) == (4, 8, [])


@pytest.mark.parametrize("verb", ["messages", "stat", "export"])
def test_messages_of_several_stores_are_read_together(
    verb: str,
    packed_store: Callable[[str, str], BrokerStore],
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    stores = [packed_store(CURRENT, kind) for kind in ("plain", "ipv6")]
    options = () if verb == "export" else ("--json",)

    lines = lines_of(capsysbinary, verb, *options, *(str(store.root) for store in stores))

    counts = [line.get("messages", 1) for line in lines]
    assert sum(counts) == sum(len(store.truth.pulled) for store in stores)


@pytest.mark.parametrize("verb", ["get --at t:0:0", "check", "pending", "rebuild out"])
def test_other_verbs_take_one_store(
    verb: str,
    packed_store: Callable[[str, str], BrokerStore],
    capsys: pytest.CaptureFixture[str],
) -> None:
    roots = [str(packed_store(CURRENT, kind).root) for kind in ("plain", "ipv6")]

    assert main([*verb.split(), *roots]) == 2
    assert "these are several stores" in capsys.readouterr().err


def test_a_key_that_also_stands_behind_the_last_message_ends_the_search(
    copy: BrokerStore, run: Callable[..., Any]
) -> None:
    place = damage.places(damage.log_files(copy.root)[-1])[-1]
    damage.put(place.file, place.position + place.size, b"rest with KEYS\x01order-1\x02")

    lines = run("messages", "--json", "--key", "order-1", copy.root, status=1).out.splitlines()
    others = run("messages", "--json", "--key", "order-1", "--queue", "0", copy.root, status=1)

    assert [json.loads(line)["keys"] for line in lines] == [["order-1"]]
    assert others.out == b""


def test_folders_of_one_log_beside_its_root_are_one_store(
    copy: BrokerStore, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    other = tmp_path / "second"
    other.mkdir()
    files = sorted((copy.root / "commitlog").iterdir())
    files[1].rename(other / files[1].name)

    lines = lines_of(capsysbinary, "messages", "--json", str(copy.root), str(other))
    (report,) = lines_of(capsysbinary, "info", "--json", str(copy.root), str(other))

    assert len(lines) == len(copy.truth.pulled)
    assert "several paths" in report["kind"]
