"""Formulas as MathML, which browsers draw themselves: no script from another site, and pages work offline."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

log = logging.getLogger(__name__)

# docutils' converter knows LaTeX but for these; brackets grow by themselves in MathML
SPELLINGS = {r"\\[bB]ig+(?![a-zA-Z])": "", r"\\dots(?![a-zA-Z])": r"\\ldots "}


def convert(node: nodes.Element, *, block: bool) -> str:
    text = node.astext()
    for known, wanted in SPELLINGS.items():
        text = re.sub(known, wanted, text)
    try:
        formula = tex2mathml(text, as_block=block)
        # within a line braces keep their size, as the converter has it for parentheses
        return formula if block else re.sub("<mo>([{}])</mo>", r'<mo stretchy="false">\1</mo>', formula)
    except MathError as problem:
        log.warning("formula %r cannot be converted: %s", text, problem, location=node)
        return f"<code>{text}</code>"


def visit_inline(self: Any, node: nodes.Element) -> None:
    self.body.append(convert(node, block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.Element) -> None:
    self.body.append(f'<div class="math-block">{convert(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
