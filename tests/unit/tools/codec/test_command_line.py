"""The command as a process: streams, pipes, exit statuses, and the examples of its guide."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketwire import RemotingCommand, encode
from rocketwire_tools.codec import jsonl
from tests.support import golden
from tests.support.codec_in_process import only, refused, run

ROOT = Path(__file__).parents[4]
GUIDE = ROOT / "docs" / "guide" / "command-line.md"
COMMAND = f"{shlex.quote(sys.executable)} -m rocketwire_tools.codec"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(ROOT / root) for root in (".", "namesrv", "tools")),
}
FRAME = encode(RemotingCommand(code=105, ext_fields={"topic": "T"}))

WAYS = [
    ["decode"],
    ["decode", "--no-body", "--base64"],
    ["decode", "--request-code", "11"],
    ["decode", "--binary"],
    ["encode"],
    ["encode", "--request-code", "105"],
]


def shell(text: str, stdin: bytes = b"", cwd: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    script = text.replace("rocketwire-codec", COMMAND)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=ENVIRONMENT,
        check=False,
        timeout=60,
    )


def examples() -> list[tuple[str, str]]:
    """Every command of the guide with its output."""
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        (command, output)
        for block in blocks
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


@pytest.mark.process
def test_examples_of_the_guide_print_their_output(tmp_path: Path) -> None:
    shown = examples()
    assert len(shown) >= 5
    for command, output in shown:
        result = shell(command, cwd=tmp_path)
        assert (output, "") == (result.stdout.decode(), result.stderr.decode()), command


@pytest.mark.process
def test_reader_may_end_early() -> None:
    result = shell("rocketwire-codec decode | head -1", stdin=f"{FRAME.hex()}\n".encode() * 20_000)

    assert (0, b"") == (result.returncode, result.stderr)
    assert 1 == len(result.stdout.splitlines())


@pytest.mark.process
def test_every_line_is_answered_before_the_next_one_comes() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rocketwire_tools.codec", "decode"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(f"{FRAME.hex()}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().startswith(b'{"code":105,')
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.process
def test_no_sub_command_brings_an_event_loop() -> None:
    script = (
        "import sys; from rocketwire_tools.codec.__main__ import main; main(['decode']);"
        "print({'trio', 'asyncio'} & set(sys.modules), file=sys.stderr)"
    )
    result = shell(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}")
    assert result.stderr == b"set()\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dekode"],
        ["decode", "--base64", "--binary"],
        ["decode", "--request-code", "x"],
        ["decode", "no/such/file"],
        ["body", "KVTable"],
    ],
)
def test_a_command_line_that_makes_no_sense_has_status_2(arguments: list[str]) -> None:
    result = run(*arguments)

    assert (2, []) == (result.status, result.lines)
    assert result.complaint


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(f"{FRAME.hex()}\n\n", "utf-8")
    second.write_text("zz", "utf-8")

    result = run("decode", str(first), "-", str(second), stdin=[FRAME.hex()])

    assert (1, 3) == (result.status, len(result.lines))
    assert result.lines[0] == result.lines[1]


def test_a_line_without_end_is_refused_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 1000)

    result = run("decode", stdin=["00" * 200_000, "zz"])

    assert ["LimitExceededError", "DecodeError"] == [line["error"] for line in result.lines]


MEMBERS = st.sampled_from(
    [
        *("code", "flag", "kind", "language", "version", "remark", "serialize_type", "ext_fields"),
        *("header", "body", "value", "messages", "hex", "topic", "properties", "offset", "sysFlag"),
        *("bornHost", "address", "offsetTable", "consumeTps", "topicConfigSerializeWrapper"),
        *("filterServerList", "x"),
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=4),
    max_leaves=8,
)
DOCUMENTS = st.one_of(
    st.dictionaries(MEMBERS, VALUES, max_size=5),
    VALUES.map(lambda value: {"value": value}),
    VALUES.map(lambda value: {"messages": [value]}),
)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60).map(bytes.hex),
    st.sampled_from([vector.data.hex() for vector in golden.vectors()]),
    st.sampled_from([vector.data.hex() for vector in golden.bad_vectors()]),
    DOCUMENTS.map(lambda value: jsonl.text_of(value).decode()),
)


@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_any_line_is_answered_by_one_object(arguments: list[str], texts: list[str]) -> None:
    data = "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")

    result = run(*arguments, stdin=data)

    assert "" == result.complaint
    assert any("error" in line for line in result.lines) == result.status
    if "--binary" not in arguments:
        lines = [line for line in data.split(b"\n")[:-1] if line.strip(b" \t\r\v\f")]
        assert len(lines) == len(result.lines)


def test_deep_and_long_texts_are_refused() -> None:
    deep = '{"value":' + '{"a":' * 5000 + "1" + "}" * 5001
    long = '{"code":' + "9" * 5000 + "}"

    assert "error" in refused("encode", line=deep)
    assert "error" in refused("encode", line=long)
    nested = b'{"a":' * 800 + b"1" + b"}" * 800
    frame = encode(RemotingCommand(code=0, flag=1, body=nested))
    line = only("decode", "--request-code", "2003", line=frame.hex())
    assert line["problems"]["body"]["error"] == "LimitExceededError"


def test_a_line_of_output_is_one_line_to_every_reader() -> None:
    remark = "a\x85b\u2028c\u2029d\u00e9"
    frame = encode(RemotingCommand(code=105, remark=remark)).hex()

    printed = jsonl.text_of({"remark": remark}).decode()

    assert [printed] == printed.splitlines()
    assert only("decode", line=frame)["remark"] == remark
