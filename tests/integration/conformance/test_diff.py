"""Differences between two servers."""

from dataclasses import replace
from pathlib import Path

import pytest

import rocketwire_tools.conformance
from rocketwire.wire.command import RemotingCommand, encode
from rocketwire_tools.conformance.compare.diff import (
    KNOWN_FILE,
    KnownDifference,
    compare,
    judge,
    read_differences,
    read_known,
)
from rocketwire_tools.conformance.model.case import Case, VerdictKind
from rocketwire_tools.conformance.model.placeholders import Names
from rocketwire_tools.conformance.run.raw_connection import Arrival
from rocketwire_tools.conformance.run.verdict import Observation, Verdict

CASE = Case(id="ns/1/1", requirement="", evidence="", steps=())
NAMES = Names("run", 0)
OWN = NAMES.text("{topic}")


def response(
    *,
    code: int = 0,
    remark: str | None = None,
    body: bytes | None = None,
    flag: int = 1,
    ext: dict[str, str] | None = None,
) -> Arrival:
    command = RemotingCommand(code=code, remark=remark, body=body, flag=flag, ext_fields=ext)
    return Arrival("response", encode(command), command)


def verdict(*observations: Observation, kind: VerdictKind = VerdictKind.PASS) -> Verdict:
    return Verdict(case=CASE, kind=kind, observations=list(observations))


def observe(
    arrival: Arrival | None, *, exact: bool = False, request_code: int | None = None
) -> Verdict:
    return verdict(
        Observation(step="1 Ask", arrival=arrival, exact=exact, request_code=request_code)
    )


def fields(first: Verdict, second: Verdict) -> list[str]:
    return [item.field for item in compare(first, second, NAMES)]


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        (response(), response(), []),
        (response(code=1), response(code=2), ["code"]),
        (response(remark="a"), response(), ["remark"]),
        (response(ext={}), response(), ["ext"]),
        (response(flag=1), response(flag=3), ["flag"]),
        (response(body=b"x"), response(), ["body"]),
        (response(), replace(response(), violation="version: 0 is no version"), ["frame"]),
        (response(body=b'{"a":[1,2]}'), response(body=b'{"a":[2,1]}'), []),
        (response(body=b'{0:"a"}'), response(body=b'{"0":"a"}'), []),
        (response(), None, ["what"]),
        (None, None, []),
        (Arrival("end", reason="closed"), response(), ["what"]),
        (Arrival("end", reason="closed"), Arrival("end", reason="reset"), []),
        (Arrival("rubbish", b"a"), Arrival("rubbish", b"b"), ["bytes"]),
    ],
)
def test_what_two_servers_did_is_compared(
    first: Arrival | None, second: Arrival | None, result: list[str]
) -> None:
    assert fields(observe(first), observe(second)) == result


def test_bytes_of_equal_bodies_are_compared_where_they_matter() -> None:
    bodies = response(body=b'{0:"a"}'), response(body=b'{"0":"a"}')

    assert fields(*(observe(item, exact=True) for item in bodies)) == ["bytes"]


def test_only_the_own_part_of_shared_lists_is_compared() -> None:
    mine = f'{{"topicList":["{OWN}","theirs"]}}'.encode()
    theirs = f'{{"topicList":["{OWN}"]}}'.encode()

    for code, result in ((206, []), (105, ["body"])):
        verdicts = [observe(response(body=body), request_code=code) for body in (mine, theirs)]
        assert fields(*verdicts) == result


def test_the_place_of_a_server_in_its_configuration_is_not_compared() -> None:
    bodies = b"a=1\nlistenPort=1\n", b"a=1\nlistenPort=2\nrocketwire.driver=auto\n", b"a=2\n"
    first, second, third = (observe(response(body=body), request_code=319) for body in bodies)

    assert fields(first, second) == []
    assert fields(first, third) == ["body"]
    assert fields(observe(response(), request_code=319), first) == ["body"]


def test_a_case_that_only_one_server_got_through_is_a_difference() -> None:
    complete = verdict(Observation(step="1", arrival=None), Observation(step="2", arrival=None))
    stopped = verdict(Observation(step="1", arrival=None))
    broken = verdict(kind=VerdictKind.ERROR)

    assert fields(complete, stopped) == ["course"]
    assert fields(complete, broken) == ["course"]
    assert fields(broken, broken) == []


def test_known_differences_explain_and_unused_ones_are_listed() -> None:
    differences = read_known(
        """
        [[difference]]
        case = "ns/1"
        fields = ["remark"]
        first = "^java"
        reason = "texts"
        [[difference]]
        case = "*"
        fields = ["code"]
        reason = "never"
        [[difference]]
        case = "ns/2"
        fields = ["code"]
        reason = "not played"
        """
    )
    first = observe(response(remark="java.lang", body=b"1"))
    second = observe(response(remark="ours", body=b"2"))

    result = judge([first], [second], "run", differences)

    assert [item.field for item in result.unexplained] == ["body"]
    assert [reason.reason for _, reason in result.explained] == ["texts"]
    assert [entry.reason for entry in result.unused] == ["never"]
    assert result.played == 1
    assert "ns/1/1 (1 Ask) body: 1 / 2" == str(result.unexplained[0])


def test_what_was_skipped_or_played_once_is_not_compared() -> None:
    skipped = verdict(kind=VerdictKind.SKIP)

    assert judge([skipped], [verdict()], "run").played == 0
    assert judge([verdict()], [], "run").played == 0


def test_a_known_difference_can_ask_for_the_second_value() -> None:
    entry = KnownDifference(case="*", fields=("code",), reason="", second="^2$")
    (difference,) = compare(observe(response(code=1)), observe(response(code=2)), NAMES)
    (another,) = compare(observe(response(code=1)), observe(response(code=3)), NAMES)

    assert entry.explains(difference)
    assert not entry.explains(another)


def test_a_file_of_known_differences_that_lacks_something_is_refused() -> None:
    with pytest.raises(ValueError, match="reason"):
        read_known('[[difference]]\ncase = "a"\nfields = []')
    with pytest.raises(ValueError, match="Invalid"):
        read_known("[[")


def test_the_known_differences_of_rocketwire_come_with_the_package(tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text('[[difference]]\ncase = "*"\nfields = ["code"]\nreason = "mine"\n')
    shipped = read_differences(["rocketwire"])

    assert KNOWN_FILE.is_relative_to(Path(rocketwire_tools.conformance.__file__).parent)
    assert len(shipped) > 5
    assert [item.reason for item in read_differences(["rocketwire", str(file)])][-1] == "mine"
    file.write_text("[[")
    with pytest.raises(ValueError, match=r"more\.toml: Invalid"):
        read_differences([str(file)])
