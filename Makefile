# Two commands for everybody: `make run` and `make test`.  Each sets up what it needs, in .venv and .cache.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Arguments of the name server: make run ARGS="-c namesrv.properties"
ARGS   ?=
# Arguments of pytest: make test PYTEST="-k route"
PYTEST ?=
# Processes that run the tests of make check, one for each core.
WORKERS ?= 2
# Processes that run the tests with processes and Java peers.  They wait more than half of the time.
PEERS   ?= 4
# What failed and what was tried again, of all processes that run tests.
SUMMARY := $(CURDIR)/.cache/tests-summary.txt
# What installing does for a package that is not editable: programs start much faster, also where Python may write no byte code itself.
COMPILE := $(BIN)/python -m compileall -q rocketwire namesrv tools
# Arguments of a benchmark: make bench BENCH="--scenario closed"
BENCH  ?=
# Of make fuzz: seconds for each atheris target, cases for each format beside Java
FUZZ_SECONDS ?= 60
FUZZ_CASES   ?= 100000

# Arguments of Java's own integration tests
JUDGE        ?=
# Pages of make guides: all, or those named here
PAGES        ?=
# Arguments of the visit to the pages
BROWSER      ?=
# Damaged stores, and a text that makes other ones
MUTATIONS    ?= 1000
SEED         ?= stores
# Arguments of the check before a release
CHECK        ?=
# Arguments of the soak
SOAK         ?=

.DEFAULT_GOAL := help
.PHONY: help run clean constraints
.PHONY: check test test-units test-peers test-broker coverage uncovered interpreted lint types
.PHONY: bench bench-pcap fuzz mutations chaos spark-kills judge browser soak
.PHONY: docs guides dist release-check pictures

help:
	@echo "make run    set up and start the name server on port 9876   (ARGS=\"-c FILE\")"
	@echo "make check  set up, then format, lint, mypy and every test that starts no process; three minutes"
	@echo "            (PYTEST=\"-k WORD\" WORKERS=2)"
	@echo "make test   set up and run every check and every test; 31 minutes (PYTEST=\"-k WORD\" PEERS=4)"
	@echo "make test-broker  the tests of clients and of operators at our broker for development instead of Java's"
	@echo "make bench  the name server beside Java's and a C floor, the codec beside hand-written code, construct and Java;"
	@echo "            writes docs/performance.md, takes half an hour   (BENCH=\"--quick\")"
	@echo "make bench-pcap  rocketwire-pcap beside tshark: CPU, speed, memory; some minutes   (BENCH=\"--rounds 3 --whole\")"
	@echo "make lint   ruff and import-linter alone"
	@echo "make types  mypy and pyright alone"
	@echo "make fuzz   set up and look for bytes that break it, alone, beside Java and under an audit hook"
	@echo "            (FUZZ_SECONDS=60 for each target, FUZZ_CASES=100000 for each format)"
	@echo "make mutations  damage stores of brokers at random, read them, and start Java's store on copies"
	@echo "            (MUTATIONS=1000 cases in all, and as many starts of each release; SEED=text)"
	@echo "make chaos  the name server under faults, long (some minutes)"
	@echo "make spark-kills  a million messages read, and 200,000 rows written, by Spark whose processes are killed"
	@echo "make judge  RocketMQ's own integration tests at three brokers, half an hour (JUDGE=\"--word tag\")"
	@echo "make soak   ten minutes of everything at once; fails where memory, descriptors or tasks grow"
	@echo "            (SOAK=\"--seconds 600 --driver portable\")"
	@echo "make docs   the documentation site, in .cache/site; every warning and dead link is an error"
	@echo "make guides  the commands and programs of README, tutorials and guides, those of a minute included (PAGES=\"README.md\")"
	@echo "make dist   sdist and wheel, in dist; built twice and compared"
	@echo "make release-check  make dist, then install the wheel with each extra and try every tool (CHECK=\"--extra pcap\")"
	@echo "make browser  make docs, then its pages, the status page and a report in headless Chromium, with axe-core"
	@echo "            (BROWSER=\"--all\", ROCKETWIRE_CHROMIUM=/usr/bin/chromium); make pictures also writes docs/images"
	@echo "make clean  remove what the other targets made"

run: $(VENV)/.installed-run
	@exec $(BIN)/rocketwire-namesrv $(ARGS)

# Exit status 5 of pytest is "no test was chosen".
CHOSEN := || [ $$? -eq 5 ]

# pytest keeps the assertions that it has rewritten, also in packages that it has loaded before it reads tests/conftest.py.
check test test-units test-peers coverage uncovered interpreted: export PYTHONDONTWRITEBYTECODE :=

check: lint
	$(BIN)/mypy
	$(BIN)/python -m tests.support.shares -n $(WORKERS) -- -q -m "not java and not process" $(PYTEST) $(CHOSEN)

# Two halves run side by side: what needs processes and Java peers, which takes longest, and all the rest.
test: lint
	@mkdir -p .cache; rm -f $(SUMMARY); export ROCKETWIRE_TEST_SUMMARY=$(SUMMARY); \
	$(MAKE) --no-print-directory --keep-going test-units > .cache/test-units.log 2>&1 & units=$$!; \
	$(MAKE) --no-print-directory test-peers; peers=$$?; \
	wait $$units; units=$$?; echo "== types, and tests without processes:"; cat .cache/test-units.log; \
	[ ! -e $(SUMMARY) ] || { echo "== failed, or tried again, in all of it:"; cat $(SUMMARY); }; \
	verdict() { [ $$1 -eq 0 ] && echo passed || echo "FAILED (status $$1)"; }; \
	echo "== types, and tests without processes: $$(verdict $$units)"; \
	echo "== tests with processes and Java peers: $$(verdict $$peers)"; \
	[ $$units -eq 0 ] && [ $$peers -eq 0 ]

test-units: types coverage uncovered interpreted

test-peers: $(VENV)/.installed-test
	@status=0; \
	$(BIN)/python -m pytest -n $(PEERS) --durations=20 -m "java or process" $(PYTEST) $(CHOSEN) || status=1; \
	$(MAKE) --no-print-directory test-broker || status=1; \
	exit $$status

# What Java's brokers are asked by these tests, our broker for development is asked too.
test-broker: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n $(PEERS) --cluster=dev tests/java/client tests/java/admin $(PYTEST) $(CHOSEN)

# Coverage is demanded of the library and the name server's pure rooms, by the quick tests of these
# rooms (tests/unit/conftest.py); not if PYTEST chooses some.
coverage: $(VENV)/.installed-test
	$(BIN)/coverage erase
	COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml $(BIN)/python -m pytest -q -m "covered and not process" $(PYTEST) $(CHOSEN)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report $(if $(PYTEST),,--fail-under=100)

# All other tests without processes: a tracer would make them slower.
uncovered: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -m "not java and not process and not covered" $(PYTEST) $(CHOSEN)

# What construct itself makes of the declarations, beside the functions derived from them.
interpreted: $(VENV)/.installed-test
	ROCKETWIRE_CONSTRUCT=interpreted $(BIN)/python -m pytest -q -m "not java and not process" $(INTERPRETED) $(PYTEST) $(CHOSEN)

INTERPRETED := tests/unit/wire/test_golden.py tests/unit/wire/layouts/test_functions.py tests/unit/wire/layouts/test_interpreter.py tests/unit/wire/test_vectors.py

bench: $(VENV)/.installed-test
	$(BIN)/python -m bench --write docs/performance.md $(BENCH)

bench-pcap: $(VENV)/.installed-test
	$(BIN)/python -m bench.pcap $(BENCH)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-test
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

# All parts run, whatever the first one finds.
fuzz: $(VENV)/.installed-fuzz
	@status=0; \
	$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS) || status=1; \
	$(BIN)/python -m tests.fuzz.audit --seconds $(FUZZ_SECONDS) || status=1; \
	$(BIN)/python -m tests.fuzz.differential --cases $(FUZZ_CASES) || status=1; \
	$(BIN)/python -m tests.fuzz.damaged_stores || status=1; \
	exit $$status

# Stores of other releases and kinds, once made, are damaged too: python -m tests.support.stores 5.3.3-plain
mutations: $(VENV)/.installed-test
	@status=0; \
	$(BIN)/python -m tests.fuzz.damaged_stores --made --cases $(MUTATIONS) --seed $(SEED) || status=1; \
	ROCKETWIRE_MUTATIONS=$(MUTATIONS) ROCKETWIRE_SEED=$(SEED) \
	$(BIN)/python -m pytest -q tests/java/store/test_random_damage.py $(PYTEST) || status=1; \
	exit $$status

chaos: $(VENV)/.installed-test
	ROCKETWIRE_CHAOS=long $(BIN)/python -m pytest -m chaos $(PYTEST)

spark-kills: $(VENV)/.installed-test
	ROCKETWIRE_SPARK_KILLS=long ROCKETWIRE_SINK_ROWS=200000 ROCKETWIRE_SINK_KILLS=4 \
	$(BIN)/python -m pytest -q -s tests/spark/test_topics.py tests/spark/test_topic_kills.py \
	tests/spark/topics/test_changes.py tests/spark/topics/test_sink_kills.py \
	tests/spark/topics/test_sink_failures.py tests/spark/topics/test_cluster.py $(PYTEST)

judge: $(VENV)/.installed-test
	$(BIN)/python -m tests.java.broker.judge $(JUDGE)
	$(BIN)/python -m tests.java.broker.releases

# Debian's Chromium, which no other target needs: apt-get install chromium-headless-shell
browser: $(VENV)/.installed-browser docs
	$(BIN)/python -m pytest -q tests/browser $(PYTEST) $(CHOSEN)
	$(BIN)/python -m publishing.browser $(BROWSER)

soak: $(VENV)/.installed-test
	$(BIN)/python -m bench.soak $(SOAK)

docs: $(VENV)/.installed-docs
	$(BIN)/python -m publishing.site

# make test leaves out the blocks that take more than ten seconds.
guides: $(VENV)/.installed-test
	$(BIN)/python -m publishing.pages $(PAGES)

pictures: $(VENV)/.installed-browser docs
	$(BIN)/python -m publishing.pictures
	$(BIN)/python -m publishing.browser --pictures docs/images

dist: $(VENV)/.installed-release
	$(BIN)/python -m publishing.release.dist

release-check: $(VENV)/.installed-release
	$(BIN)/python -m publishing.release.check $(CHECK)
	$(BIN)/python -m publishing.pages.newcomer

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rocketwire needs Python 3.11 or newer; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-run: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[observe,tls]"
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test,lint]"
	@$(COMPILE)
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs,pcap,plot,store,observe,admin,tls]" pytest
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-release: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[release]"
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-fuzz: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[compression,fuzz]"
	@touch $@ $(VENV)/.installed-run

$(VENV)/.installed-browser: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[browser]"
	@touch $@

# The newest versions that pyproject.toml allows, in a virtual environment of its own.
constraints:
	rm -rf .cache/constraints
	$(PYTHON) -m venv .cache/constraints
	.cache/constraints/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test,lint,dev,release,browser,fuzz]"
	{ echo "# Versions that make check and make test install.  make constraints writes this file."; \
	  .cache/constraints/bin/python -m pip freeze --exclude-editable; } > .cache/constraints.txt
	mv .cache/constraints.txt constraints.txt
	rm -rf .cache/constraints

clean:
	rm -rf $(VENV) .cache .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
