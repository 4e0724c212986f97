"""Tables that are made from the code when the pages are built: methods, commands, presets, printed tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def markdown(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines)


class Made(SphinxDirective):
    """A directive whose content is Markdown text made by :meth:`text`."""

    has_content = False
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(self.text(), allow_section_headings=True)

    def text(self) -> str:
        raise NotImplementedError


def code(value: Any) -> str:
    return f"`{value}`"


def metavar(argument: Any) -> str:
    """An argument as a usage line shows it."""
    name = argument.metavar or argument.name.upper()
    name = name if argument.nargs == 1 or name.endswith("…") else f"{name}…"
    return name if argument.required else f"[{name}]"


KINDS = ("gnn", "two-phase", "kernel", "floor")
OURS = ("spgnn", "arch1", "arch2")


def registered_methods() -> list[tuple[str, Any]]:
    """Name and class of every method: the paper's own first, then by kind and name."""
    from spgnn_dgl.methods import METHODS

    first = [(name, METHODS.get(name)) for name in OURS]
    others = [(name, method) for name, method in METHODS if name not in OURS]
    return first + sorted(others, key=lambda pair: (KINDS.index(pair[1].kind), pair[0]))


class MethodsTable(Made):
    """Every registered method: name, what it is, where it is from, what it needs."""

    def text(self) -> str:
        rows = []
        for name, method in registered_methods():
            path = f"{method.__module__}.{method.__qualname__}"
            summary = (inspect.getdoc(method) or "").split("\n\n")[0].replace("\n", " ")
            extra = f"`{method.extra}`" if method.extra else ""
            rows.append([f"{{py:class}}`{name} <{path}>`", method.kind, summary, method.reference, extra])
        return markdown(("name", "kind", "what it is", "from", "extra"), rows)


class MethodOptions(Made):
    """The options of every registered method with their defaults; what all methods of a kind share stands once."""

    def text(self) -> str:
        known = {name: (method.kind, method.options()) for name, method in registered_methods()}
        shared = {}
        for kind in KINDS:
            of_kind = [options for k, options in known.values() if k == kind]
            names = set.intersection(*(set(options) for options in of_kind)) if len(of_kind) > 1 else set()
            usual = {name: [options[name] for options in of_kind] for name in names}
            shared[kind] = {name: max(values, key=values.count) for name, values in sorted(usual.items())}
        rows = []
        for name, (kind, options) in known.items():
            own = {k: v for k, v in options.items() if k not in shared[kind] or shared[kind][k] != v}
            rows.append([code(name), assignments(own) or "–"])
        common = [[f"all of kind `{kind}`", assignments(options)] for kind, options in shared.items() if options]
        return markdown(("method", "options and defaults"), [*common, *rows])


def assignments(options: Mapping[str, Any]) -> str:
    return ", ".join(f"`{key}={value!r}`" for key, value in options.items())


class Commands(Made):
    """Every command of ``spgnn``, its arguments and options: a section each."""

    def run(self) -> list[nodes.Node]:
        import typer.main

        from spgnn_dgl.cli import app

        group: Any = typer.main.get_command(app)
        before = "These stand before the command: `spgnn --data-home FOLDER train …`.\n\n"
        made = self.parse_text_to_nodes(before + self.parameters(group))
        for name, command in sorted(group.commands.items()):
            title = f"spgnn {name}"
            section = nodes.section(ids=[nodes.make_id(title)], names=[title])
            section += nodes.title(text=title)
            section += self.parse_text_to_nodes(self.describe(title, command))
            self.state.document.note_explicit_target(section)
            made.append(section)
        return made

    def describe(self, title: str, command: Any) -> str:
        usage = "".join(f" {metavar(p)}" for p in command.params if p.param_type_name == "argument")
        parts = [self.prose(command.help), f"```text\n{title}{usage} [OPTIONS]\n```", self.parameters(command)]
        return "\n\n".join(filter(None, parts))

    def parameters(self, command: Any) -> str:
        rows = []
        for parameter in command.params:
            argument = parameter.param_type_name == "argument"
            if {"--help", "--install-completion", "--show-completion"} & set(parameter.opts):
                continue
            names = [metavar(parameter)] if argument else [*parameter.opts, *parameter.secondary_opts]
            default = parameter.default
            shown = "" if argument or default is None or default is False or callable(default) else code(default)
            rows.append([", ".join(map(code, names)), self.prose(parameter.help), shown])
        return markdown(("name", "what it does", "default"), rows) if rows else ""

    @staticmethod
    def prose(text: str | None) -> str:
        return re.sub(r"\s+", " ", text or "").strip()


class Presets(Made):
    """Settings that were chosen by measurement where the paper gives none."""

    def text(self) -> str:
        from spgnn_dgl.paper import PRESETS

        if not PRESETS:
            return "`PRESETS` is empty at present: every dataset is trained with the defaults of the method."
        rows = [[code(method), dataset, assignments(options)] for (method, dataset), options in PRESETS.items()]
        return markdown(("method", "dataset", "options"), rows)


class Sentinels(Made):
    """What every training is watched for."""

    def text(self) -> str:
        from spgnn_dgl.evaluation.sentinels import SENTINELS

        return markdown(("sentinel", "what it says"), [[code(s.name), s.says] for s in SENTINELS])


class Counts(Made):
    """The paper's datasets: what is counted beside what is printed."""

    def text(self) -> str:
        from spgnn_dgl.data.benchmarks import BENCHMARKS

        rows = []
        for name, known in BENCHMARKS:
            if known.printed is None:
                continue
            pairs = []
            for field in ("graphs", "max_nodes", "avg_nodes", "avg_edges", "node_labels", "classes"):
                ours, theirs = getattr(known.counted, field), getattr(known.printed, field)
                pairs.append(str(ours) if ours == theirs else f"{ours} ({theirs})")
            rows.append([name, *pairs, known.remark])
        head = ("dataset", "graphs", "max nodes", "avg nodes", "avg edges", "node labels", "classes", "remark")
        return markdown(head, rows)


class Printed(Made):
    """A table of the paper as it is printed: ``{printed-table} 1``."""

    required_arguments = 1
    optional_arguments = 0

    def text(self) -> str:
        from spgnn_dgl.paper import printed, table_columns, table_methods

        number = int(self.arguments[0])
        rows = []
        for method in table_methods(number):
            cells = [printed(number, method, dataset) for dataset in table_columns(number)]
            rows.append([code(method), *(f"**{c}**" if c and c.bold else str(c or "") for c in cells)])
        return markdown(("method", *table_columns(number)), rows)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("methods-table", MethodsTable)
    app.add_directive("method-options", MethodOptions)
    app.add_directive("commands", Commands)
    app.add_directive("presets", Presets)
    app.add_directive("sentinels", Sentinels)
    app.add_directive("dataset-counts", Counts)
    app.add_directive("printed-table", Printed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
