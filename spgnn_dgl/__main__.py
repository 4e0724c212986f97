"""``python -m spgnn_dgl`` is ``spgnn``."""

from spgnn_dgl.cli import main

if __name__ == "__main__":
    main()
