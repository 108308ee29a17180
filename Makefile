# Two commands for everybody: `make run` and `make test`.  Each sets up what it needs, in .venv and .cache.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Arguments of the name server: make run ARGS="-c namesrv.properties"
ARGS   ?=
# Arguments of pytest: make test PYTEST="-k route"
PYTEST ?=

.DEFAULT_GOAL := help
.PHONY: help run test lint bench clean

help:
	@echo "make run    set up and start the name server on port 9876   (ARGS=\"-c FILE\")"
	@echo "make test   set up and run every check and every test       (PYTEST=\"-k WORD\")"
	@echo "make bench  the codec against hand-written code, construct and Java"
	@echo "make lint   the checks alone: ruff, mypy, pyright, import-linter"
	@echo "make clean  remove what the other targets made"

run: $(VENV)/.installed-run
	@exec $(BIN)/rocketwire-namesrv $(ARGS)

test: lint
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(PYTEST)
	ROCKETWIRE_CONSTRUCT=interpreted $(BIN)/python -m pytest -q -m "not java and not slow" tests/wire tests/messages
	$(BIN)/coverage report
	$(BIN)/coverage report --fail-under=100 --include="rocketwire/*,$(shell echo $(PURE) | tr ' ' ',')"

# The name server's sans-IO parts: like the library, every branch of them is tested.
PURE := $(addprefix namesrv/rocketwire_namesrv/,brokers.py config.py handlers.py javahash.py kv.py occurrences.py \
        preamble.py properties.py registrations.py session.py shapes.py state.py table.py topics.py views.py)

bench: $(VENV)/.installed-test
	$(BIN)/python -m bench.codec

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rocketwire needs Python 3.11 or newer; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,lint]"
	@touch $@ $(VENV)/.installed-run

clean:
	rm -rf $(VENV) .cache .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
