"""Blocks of pages, and the remarks on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from publishing.pages import blocks as of_pages
from publishing.pages.blocks import PageError, blocks, commands, has_cluster, runs

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """# Title
<!-- a cluster runs -->

<!-- background: ready: -->
<!-- status: 2 -->
```sh
serve
```

Text, and <!-- a comment -->.

<!-- then:
call()
-->

* an item

  ```python
  if True:
      pass
  ```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


def test_blocks_have_languages_lines_and_remarks(page: Path) -> None:
    shell, hidden, python = blocks(page)

    assert (shell.language, shell.text, shell.place) == ("sh", "serve\n", "page.md:7")
    assert shell.remarks == {"background": "ready:", "status": "2"}
    assert (hidden.language, hidden.text) == ("then", "call()\n")
    assert (python.language, python.text) == ("python", "if True:\n    pass\n")
    assert python.remarks == {}


def test_a_page_says_that_its_reader_has_a_cluster(page: Path) -> None:
    assert has_cluster(page)
    page.write_text("# Title\n", "utf-8")
    assert not has_cluster(page)


def test_a_page_without_anything_to_run_does_not_run(page: Path) -> None:
    assert runs(page)
    page.write_text("<!-- not run: docker -->\n```sh\ndocker\n```\n```text\nx\n```\n", "utf-8")
    assert not runs(page)


def test_commands_of_a_console_have_their_output(page: Path) -> None:
    page.write_text("```console\n$ one \\\n  more\nout\n$ two\n```\n", "utf-8")

    (block,) = blocks(page)

    assert commands(block) == [
        of_pages.Command("one \\\n  more", ("out",)),
        of_pages.Command("two"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```sh\nx\n", "page.md:1: a block that does not end"),
        ("<!-- long -->\ntext\n", "page.md:2: a remark without a block"),
        ("<!-- then:\ncode\n", "page.md:1: a comment that does not end"),
    ],
)
def test_a_page_that_cannot_be_read_is_refused(page: Path, text: str, problem: str) -> None:
    page.write_text(text, "utf-8")

    with pytest.raises(PageError, match=f"^{problem}$"):
        blocks(page)


def test_output_before_the_first_command_is_refused(page: Path) -> None:
    page.write_text("```console\nout\n```\n", "utf-8")
    (block,) = blocks(page)

    with pytest.raises(PageError, match="output before the first command"):
        commands(block)
