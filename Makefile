PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint docs bench clean

demo: $(READY)  ## set everything up and run the main job
	@echo "== the sprayer: prove its equations, drive three paths, balance, map what was sprayed =="
	@mkdir -p out
	$(BIN)/appell verify sprayer
	$(BIN)/appell run sprayer --out out/sprayer/
	@echo "== done: see the pictures in out/sprayer/ =="

test: $(READY)  ## set everything up and run all tests
	@echo "== tests =="
	$(BIN)/python -m pytest -n 2

lint: $(READY)  ## style, types, layers
	@echo "== lint: ruff, pyright, import-linter =="
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

docs: $(READY)  ## all pages and a reference of every name as a site
	$(BIN)/sphinx-build -q -W -b html docs site
	@echo "== done: open site/index.html =="

bench: $(READY)  ## appell and its peers in one process
	$(BIN)/pip install --quiet -e '.[peers]'
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@echo "== setting up $(VENV) (a minute or two the first time) =="
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(READY)

clean:  ## remove what was made
	rm -rf $(VENV) out site build dist .pytest_cache .ruff_cache
