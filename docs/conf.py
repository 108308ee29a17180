"""Sphinx: how the site is built; ``make docs`` builds it, and every warning is an error."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import rocketwire
from rocketwire_tools.codec.__main__ import main as codec

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "rocketwire"
copyright = "the authors of rocketwire"  # noqa: A001 - Sphinx's name
version = release = rocketwire.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"rocketwire {version}"
html_static_path = ["_static"]
html_js_files = ["keyboard.js"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = ""
language = "en"
pygments_style = "default"
highlight_language = "text"

myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "attrs_block"]
suppress_warnings = [
    "misc.highlighting_failure",  # properties and console outputs are no programs
    "ref.python",  # a signature may name a class by a short name that several packages have
]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
# Classes of other modules and of other projects stand in signatures; only public names have pages.
nitpick_ignore_regex = [("py:.*", ".*")]

DOCS = Path(__file__).parent


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", write_pages)


def write_pages(_: Sphinx) -> None:
    """Write the pages of the protocol and of commands; git ignores them."""
    codec(["schema", "--markdown", str(DOCS / "protocol")])
    toml = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))
    folder = DOCS / "reference" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    for program, target in toml["project"]["scripts"].items():
        own = help_text(target, program)
        text = f"# {program}\n\n{console(own, program)}"
        # each verb has a line of its own, behind the name of the program or alone
        words = re.findall(rf"^ {{2,4}}(?:{program} )?([a-z][\w-]*)\b", own, re.MULTILINE)
        for verb in dict.fromkeys(words):
            help_of_verb = help_text(target, program, verb)
            if help_of_verb not in {"", own}:  # or it is a word of a sentence
                text += f"\n## {program} {verb}\n\n{console(help_of_verb, program, verb)}"
        (folder / f"{program}.md").write_text(text, "utf-8")


def console(text: str, *words: str) -> str:
    return f"```console\n$ {' '.join(words)} --help\n{text}\n```\n"


def help_text(target: str, *words: str) -> str:
    module, _, function = target.partition(":")
    output = io.StringIO()
    with (
        mock.patch.dict("os.environ", {"COLUMNS": "100", "NO_COLOR": "1"}),
        mock.patch("sys.argv", [*words, "--help"]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        getattr(importlib.import_module(module), function)()
    return output.getvalue().rstrip()
