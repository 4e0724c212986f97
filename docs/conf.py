"""Sphinx: `make docs`. Warnings are errors, links inside are checked, and nothing is fetched from the network."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "spgnn_dgl"
author = "the contributors of spgnn_dgl"
release = version = installed_version("spgnn_dgl")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx.ext.linkcode",
    "docstrings",  # this and what follows: docs/_ext
    "links",
    "mathml",
    "module_pages",
    "source_lines",
    "tables",
]
exclude_patterns = ["_build", "README.md", "results/*"]  # results/*: included by results.md
templates_path = ["_templates"]
nitpicky = True

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.strikethrough"]

autosummary_generate = True
autodoc_default_options = {"show-inheritance": True}
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Types in signatures that other projects document; there is no network to look them up.
nitpick_ignore_regex = [
    ("py:.*", r"(np|numpy|torch|nn|dgl|scipy|sklearn|joblib|networkx|matplotlib|enum|typer|types|collections)\..*"),
    ("py:.*", r"(abc|typing|pathlib|logging|dataclasses|functools|importlib)\..*"),
    ("py:.*", r"(Any|Path|Tensor|Callable|Sequence|Mapping|Collection|Iterable|Iterator|Figure|Axes|csr_matrix)"),
    ("py:.*", r"(BaseEstimator|ClassifierMixin|BinaryIO|ScalarMappable|.*\.T)"),
    ("py:class", r"(tuple|dict|list)\[.*"),  # types of constants, which Sphinx takes apart at the comma
]

html_theme = "furo"
html_title = "spgnn_dgl"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
