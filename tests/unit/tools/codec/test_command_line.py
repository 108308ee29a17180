"""The command as a process: streams, pipes, exit statuses, and the examples of its guide."""

from __future__ import annotations

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
from tests.support.codec_in_process import refused, run

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
    """Every command of the guide with the output that stands under it."""
    blocks = re.findall(
        r"^```console\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
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
        done = shell(command, cwd=tmp_path)
        assert (output, "") == (done.stdout.decode(), done.stderr.decode()), command


@pytest.mark.process
def test_reader_may_end_early() -> None:
    done = shell("rocketwire-codec decode | head -1", stdin=f"{FRAME.hex()}\n".encode() * 20_000)

    assert (0, b"") == (done.returncode, done.stderr)
    assert 1 == len(done.stdout.splitlines())


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
    done = shell(f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}")
    assert done.stderr == b"set()\n"


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
    done = run(*arguments)

    assert (2, []) == (done.status, done.lines)
    assert done.complaint


def test_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(f"{FRAME.hex()}\n\n", "utf-8")
    second.write_text("zz", "utf-8")

    done = run("decode", str(first), "-", str(second), stdin=[FRAME.hex()])

    assert (1, 3) == (done.status, len(done.lines))
    assert done.lines[0] == done.lines[1]


def test_a_line_without_end_is_refused_and_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE", 1000)

    done = run("decode", stdin=["00" * 200_000, "zz"])

    assert ["LimitExceededError", "DecodeError"] == [line["error"] for line in done.lines]


def _texts() -> st.SearchStrategy[str]:
    plain: st.SearchStrategy[Any] = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
        max_leaves=8,
    )
    return st.one_of(
        st.text(max_size=60),
        st.binary(max_size=60).map(bytes.hex),
        st.sampled_from(golden.vectors()).map(lambda vector: vector.data.hex()),
        st.sampled_from(golden.bad_vectors()).map(lambda vector: vector.data.hex()),
        st.dictionaries(_NAMES, plain, max_size=5).map(lambda value: jsonl.text_of(value).decode()),
        plain.map(lambda value: jsonl.text_of({"value": value}).decode()),
        plain.map(lambda value: jsonl.text_of({"messages": [value]}).decode()),
    )


_NAMES = st.sampled_from(
    [
        "value",
        "messages",
        "hex",
        "code",
        "flag",
        "header",
        "body",
        "ext_fields",
        "topic",
        "properties",
        "offsetTable",
        "consumeTps",
        "address",
        "offset",
        "sysFlag",
        "kind",
        "language",
        "remark",
        "x",
        "topicConfigSerializeWrapper",
        "filterServerList",
        "bornHost",
        "serialize_type",
        "version",
    ]
)


@pytest.mark.parametrize("arguments", WAYS, ids=" ".join)
@given(texts=st.lists(_texts(), min_size=1, max_size=4))
def test_any_line_is_answered_by_one_object(arguments: list[str], texts: list[str]) -> None:
    split = "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass")

    done = run(*arguments, stdin=split)

    assert "" == done.complaint
    errors = [line for line in done.lines if "error" in line]
    assert (1 if errors else 0) == done.status
    if "--binary" not in arguments:
        read = [text for text in split.split(b"\n")[:-1] if text.strip(b" \t\r\v\f")]
        assert len(read) == len(done.lines)


def test_deep_and_long_texts_are_refused() -> None:
    deep = '{"value":' + '{"a":' * 5000 + "1" + "}" * 5001
    long = '{"code":' + "9" * 5000 + "}"

    assert "error" in refused("encode", line=deep)
    assert "error" in refused("encode", line=long)
    nested = b'{"a":' * 800 + b"1" + b"}" * 800
    frame = encode(RemotingCommand(code=0, flag=1, body=nested))
    done = run("decode", "--request-code", "2003", stdin=[frame.hex()])
    assert done.lines[0]["problems"]["body"]["error"] == "LimitExceededError"


def test_a_line_of_output_is_one_line_to_every_reader() -> None:
    remark = "a\x85b\u2028c\u2029d\u00e9"
    frame = encode(RemotingCommand(code=105, remark=remark)).hex()

    printed = jsonl.text_of({"remark": remark}).decode()

    assert [printed] == printed.splitlines()
    assert [remark] == [line["remark"] for line in run("decode", stdin=[frame]).lines]
