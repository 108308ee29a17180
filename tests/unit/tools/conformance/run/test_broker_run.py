"""A run at a broker reads its configuration first, and removes its data at the end."""

from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.broker_run import removals
from rocketwire_tools.conformance.run.match import lines_of


def test_properties_are_read_line_by_line() -> None:
    expected = {"brokerName": "broker-a", "empty": ""}

    assert lines_of(b"brokerName=broker-a\nempty=\nno pair\n") == expected


def test_the_names_of_a_case_are_removed_with_their_retries() -> None:
    names = Names("run", 3)
    names.text("{topic} {topicB} {group} {client}")

    requests = [(request.code, dict(request.ext or {})) for request in removals(names)]

    assert requests == [
        (207, {"groupName": "group-run-0003", "cleanOffset": "true"}),
        (215, {"topic": "topic-run-0003"}),
        (215, {"topic": "topicB-run-0003"}),
        (215, {"topic": "%RETRY%group-run-0003"}),
        (215, {"topic": "%DLQ%group-run-0003"}),
    ]


def test_a_case_without_names_leaves_nothing() -> None:
    assert removals(Names("run", 3)) == []
