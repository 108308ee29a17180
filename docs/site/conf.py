"""Sphinx: how the site is built.  ``make docs`` copies this file beside the pages."""

from __future__ import annotations

import rocketwire

project = "rocketwire"
copyright = "the authors of rocketwire"  # noqa: A001 - Sphinx's name
version = release = rocketwire.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
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
