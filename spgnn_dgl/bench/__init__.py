"""Measurements against other libraries, one module per subcommand of ``tools/bench.py``."""
