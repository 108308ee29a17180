# Two commands for everybody: `make run` and `make test`.  Each target installs what it needs, in .venv and .cache.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Arguments of the name server: make run ARGS="-c namesrv.properties"
ARGS   ?=
# Tests to run instead of all: make check TESTS=tests/unit/wire
TESTS  ?=
# make check CHANGED=1 runs the tests beside the files that git shows as changed
CHANGED ?=
# The benchmark and its arguments: make bench BENCH="client --rounds 3"
BENCH  ?= namesrv

# Installed packages start much faster with byte code, also where Python may write none itself.
COMPILE := $(BIN)/python -m compileall -q rocketwire namesrv broker tools
PIP     := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt --progress-bar off
RUN     := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.run

# A failed pip fails the target, although its output is shortened.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

.DEFAULT_GOAL := help
.PHONY: help run check test test-all lint docs bench dist clean

help:
	@echo "make run       start the name server on port 9876                  ARGS=\"-c FILE\""
	@echo "make check     lint, types, and every test that starts no process: 2 minutes  TESTS=PATH CHANGED=1"
	@echo "make test      all that, and one real path through everything, with Java peers: 12 minutes  TESTS=PATH"
	@echo "make test-all  everything: all releases, faults, coverage, packages; hours"
	@echo "make lint      ruff, import-linter and mypy"
	@echo "make docs      the documentation site, in .cache/site"
	@echo "make bench     a benchmark beside its peer                         BENCH=\"client --rounds 3\""
	@echo "make dist      sdist and wheel, in dist"
	@echo "make clean     remove what the other targets made"

run: $(VENV)/.installed-run
	@$(BIN)/rocketwire-namesrv $(ARGS) || { status=$$?; [ $$status = 130 ] || exit $$status; }

check: $(VENV)/.installed-test
	@$(RUN) check $(if $(CHANGED),--changed) $(TESTS)

test: $(VENV)/.installed-test
	@$(RUN) test $(TESTS)

test-all: $(VENV)/.installed-test
	@$(RUN) all $(TESTS)

lint: $(VENV)/.installed-test
	@$(RUN) lint

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -q --fail-on-warning --keep-going --nitpicky -j 2 -d .cache/site-trees docs .cache/site

bench: $(VENV)/.installed-test
	$(BIN)/python -m bench.$(BENCH)

# The time of every file is that of the last commit, so a build of the same commit has the same bytes.
dist: $(VENV)/.installed-release
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents --ignore W009 dist/*.whl

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rocketwire needs Python 3.11 or newer; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the name server: some packages, a minute if nothing is cached."
	@$(PIP) --quiet --editable ".[observe,tls]"
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the packages of the tests: half a gigabyte, some minutes if nothing is cached."
	$(PIP) --editable ".[test,lint]" | grep --line-buffered -E "^(Collecting|Downloading|Installing|Successfully)" | cut -c1-100
	@$(COMPILE)
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --quiet --editable ".[docs,pcap,plot,store,observe,otel,admin,tls]"
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-release: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --quiet --editable ".[release]"
	@touch $@ $(VENV)/.installed-run

clean:
	rm -rf $(VENV) .cache .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
