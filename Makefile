# demo, test, lint, docs, bench: each makes its own .venv when needed, and does nothing twice.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint docs bench clean

demo: .venv/.with-examples
	$(BIN)/python examples/demo.py

test: .venv/.with-dev .venv/.with-docs
	$(BIN)/python -m pytest

lint: .venv/.with-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

docs: .venv/.with-docs
	$(BIN)/mkdocs build --strict

bench: .venv/.with-bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv .venv

# One stamp for each extra: the package, editable, with that extra.
.venv/.with-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@
