"""The paper's tables, run and rendered: the plan, its records, and the tables and pictures made from them."""

from spgnn_dgl.reproduction.pictures import draw_pictures
from spgnn_dgl.reproduction.plan import PLAN, Task, matching
from spgnn_dgl.reproduction.records import Record, collect, read_records
from spgnn_dgl.reproduction.tables import spgnn_row, tables_text

__all__ = ["PLAN", "Record", "Task", "collect", "draw_pictures", "matching", "read_records", "spgnn_row", "tables_text"]
