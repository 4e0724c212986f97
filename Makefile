# Two commands matter: `make demo` and `make test`. Both set everything up first, once, in .venv.

# The first Python that fits; name another one with `make install PYTHON=/path/to/python`.
ifndef PYTHON
PYTHON := $(shell for candidate in python3 python3.12 python3.11 python3.10; do \
	$$candidate -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null \
	&& echo $$candidate && break; done)
endif

# On Linux, the registry's torch may bring about 3 GB of CUDA libraries. `make install TORCH_INDEX=ADDRESS`, with the
# address of PyTorch's own index of CPU builds (its install page names it), takes the build without them.
TORCH_INDEX ?=

BIN := .venv/bin
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check --no-compile \
	$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))

# Where the environment asks Python to keep no compiled modules, every process would compile torch and DGL anew, which
# takes it longer than all else it does; and the tests start many.
unexport PYTHONDONTWRITEBYTECODE

# What runs with dgl 2.1.0 in its own environment: everything that touches a DGL graph.
DGL2_TESTS ?= tests/test_dgl.py tests/data tests/nn
ARGS ?=
TEST_JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install demo test test-dgl2 lint format types layers wheel docs figure bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: .venv/.installed ## make .venv: the package, all its extras and the test tools

# The stamp is written last: an interrupted install is taken up again, a finished one is not repeated until the
# requirements change.
.venv/.installed: pyproject.toml constraints.txt
	@$(call check-python)
	@echo "Installing spgnn_dgl with all extras and the test tools into .venv; this takes a few minutes, once."
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(BIN)/$(PIP_INSTALL) --constraint constraints.txt --editable '.[all]'
	@touch $@
	@echo "Installed. The command is .venv/bin/spgnn"

demo: install ## train SPGNN on generated graphs, and draw what it pools beside what was planted
	@$(BIN)/spgnn demo

test: install ## run the tests; ARGS="-k folds" is handed to pytest
	$(BIN)/python -m pytest --numprocesses $(TEST_JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-dgl2: .venv-dgl2/.installed ## run the tests that touch DGL graphs with dgl 2.1.0, in .venv-dgl2
	.venv-dgl2/bin/python -m pytest $(DGL2_TESTS) $(ARGS)

.venv-dgl2/.installed: pyproject.toml constraints.txt
	@$(call check-python)
	@echo "Installing spgnn_dgl with dgl 2.1.0 into .venv-dgl2."
	@test -x .venv-dgl2/bin/pip || $(PYTHON) -m venv .venv-dgl2
	@grep -v '^dgl==' constraints.txt > .venv-dgl2/constraints.txt
	@.venv-dgl2/bin/$(PIP_INSTALL) --constraint .venv-dgl2/constraints.txt \
		--editable . dgl==2.1.0 pytest pytest-timeout hypothesis
	@touch $@

lint: install ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: install ## let ruff mend what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: install ## mypy
	$(BIN)/mypy

layers: install ## imports go one way, and only _dgl.py imports dgl
	$(BIN)/lint-imports

wheel: install ## build the wheel, and check that it holds spgnn_dgl/ only
	@rm -rf build dist
	$(BIN)/python -m build --wheel --no-isolation
	$(BIN)/python tools/check_wheel.py dist/*.whl

docs: install ## build the documentation into docs/_build/html; warnings and dead links are errors
	@rm -rf docs/reference/generated
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

figure: install ## draw the paper's figure of pooled nodes
	$(BIN)/python tools/draw_pooled.py $(ARGS)

bench: install ## measure speed and memory against DGL and PyG
	$(BIN)/python tools/bench.py $(ARGS)

clean: ## remove the environments and everything that was built
	rm -rf .venv .venv-dgl2 build dist *.egg-info docs/_build docs/reference/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define check-python
if test -z "$(PYTHON)"; then \
	echo "No Python 3.10, 3.11 or 3.12 was found. Install one, or name it: make install PYTHON=/path/to/python3.11" >&2; \
	exit 1; \
fi; \
"$(PYTHON)" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' || { \
	echo "$(PYTHON) is not Python 3.10, 3.11 or 3.12. Name one: make install PYTHON=/path/to/python3.11" >&2; \
	exit 1; \
}
endef
