"""What a page shows is done in its order, and what fails is a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from publishing.pages import reading
from publishing.pages.shell import Ended

if TYPE_CHECKING:
    from pathlib import Path

    from publishing.pages.shell import Shell


class RecordedShell:
    """Notes its commands, and answers with what a test has set."""

    def __init__(self, answers: dict[str, Ended] | None = None) -> None:
        self.commands: list[str] = []
        self.answers = answers or {}

    def run(self, command: str) -> Ended:
        self.commands.append(command)
        return self.answers.get(command, Ended(0, ""))

    def start(self, command: str, ready: str) -> Ended:
        self.commands.append(f"{command.strip()} & {ready}")
        return Ended(0, f"{ready}\n")


def read(folder: Path, text: str, shell: RecordedShell, *, long: bool = True) -> list[str]:
    page = folder / "page.md"
    page.write_text(text, "utf-8")
    problems = reading.read(page, cast("Shell", shell), folder, long=long)
    return [str(each) for each in problems]


def test_blocks_run_in_their_order_with_names_of_this_machine(tmp_path: Path) -> None:
    shell = RecordedShell()
    page = """
<!-- background: ready -->
```sh
serve
```
<!-- printed -->
```text
ready
```
<!-- not run: docker -->
```sh
docker
```
```sh
ask 10.0.0.1:9876
```
"""
    assert read(tmp_path, page, shell) == []
    assert shell.commands == ["serve & ready", "ask 127.0.0.1:9876\n"]


def test_a_long_block_runs_on_request(tmp_path: Path) -> None:
    shell = RecordedShell()

    assert read(tmp_path, "<!-- long -->\n```sh\nlast\n```\n", shell, long=False) == []
    assert shell.commands == []
    assert read(tmp_path, "<!-- long -->\n```sh\nlast\n```\n", shell) == []
    assert shell.commands == ["last\n"]


def test_the_python_of_a_page_is_one_program(tmp_path: Path) -> None:
    shell = RecordedShell()
    page = "```python\na = 1\n```\n<!-- then: print(a) -->\n```python\nb = 2\n```\n"

    assert read(tmp_path, page, shell) == []
    assert shell.commands == ["python -W error page.py"]
    assert (tmp_path / "page.py").read_text("utf-8") == "a = 1\nprint(a)\nb = 2\n"


def test_a_file_has_the_content_of_its_blocks(tmp_path: Path) -> None:
    block = "<!-- file: /etc/rocketmq/x.properties -->\n```properties\na=1\n```\n"

    assert read(tmp_path, block * 2, RecordedShell()) == []
    assert (tmp_path / "etc/rocketmq/x.properties").read_text("utf-8") == "a=1\na=1\n"


def test_another_status_is_a_problem_and_ends_the_block(tmp_path: Path) -> None:
    shell = RecordedShell({"one": Ended(1, "no such topic\n", "one")})

    problems = read(tmp_path, "```console\n$ one\n$ two\n```\n", shell)

    assert problems == ["page.md:2: status 1 of one\nno such topic\n"]
    assert shell.commands == ["one"]


def test_a_status_that_the_page_names_is_no_problem(tmp_path: Path) -> None:
    shell = RecordedShell({"one": Ended(3, "", "one")})

    assert read(tmp_path, "<!-- status: 3 -->\n```console\n$ one\n```\n", shell) == []


def test_another_output_is_a_problem(tmp_path: Path) -> None:
    shell = RecordedShell({"one": Ended(0, "red\n"), "two\n": Ended(0, "red\n")})
    page = "```console\n$ one\nblue\n```\n```sh\ntwo\n```\n<!-- printed -->\n```text\nblue\n```\n"

    assert read(tmp_path, page, shell) == [
        "page.md:2: one\nprints:\nred\n",
        "page.md:10: the commands print:\nred\n",
    ]


def test_python_that_fails_is_a_problem(tmp_path: Path) -> None:
    shell = RecordedShell({"python -W error page.py": Ended(1, "NameError\n")})

    problems = read(tmp_path, "```python\na\n```\n", shell)

    assert problems == ["page.md:2: the Python of the page fails:\nNameError\n"]
