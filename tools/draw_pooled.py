"""Draw the nodes that a model pools.

``draw_pooled.py RUN_OR_MODEL …`` is ``spgnn draw RUN_OR_MODEL …``. Without a model it is ``spgnn figure``: train with
three layers and k = 10 on IMDB-MULTI and draw the paper's figure.
"""

import sys

from spgnn_dgl.cli import main

if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(["draw" if arguments and not arguments[0].startswith("-") else "figure", *arguments])
