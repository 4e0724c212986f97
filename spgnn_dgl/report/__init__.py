"""Reports and tables, made from run folders alone: nothing is trained here."""

from spgnn_dgl.report.files import write_report
from spgnn_dgl.report.text import headline, headline_lines, percent

__all__ = ["headline", "headline_lines", "percent", "write_report"]
