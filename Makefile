# On a fresh machine with Python 3.11+:   make up     a broker to talk to
#                                         make test   everything proved
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -name '*.py') setup.py pyproject.toml

# pytest rewrites the modules of every plugin it finds, hypothesis among them: that takes seconds,
# and CPython 3.11 now and then fails at it (python/cpython#106905). We use none of them.
export PYTEST_DISABLE_PLUGIN_AUTOLOAD := 1
export PYTHONDONTWRITEBYTECODE :=

.PHONY: up build test test-long unit pure check interop crash clean

up: build
	$(BIN)/eruca up --data data

build: $(VENV)/.built

# The environment, and the compiled half in place (src/), so that a traceback names real files.
$(VENV)/.packages: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip 'setuptools>=77' wheel
	$(BIN)/python tools/requirements.py dev > $(VENV)/requirements.txt
	$(BIN)/python -m pip install -q -r $(VENV)/requirements.txt
	touch $@

$(VENV)/.built: $(VENV)/.packages $(SOURCES)
	find src -name '*.so' -delete
	$(BIN)/python -m pip install -q --no-build-isolation --no-deps -e .
	touch $@

# Quick parts first: style and types, units in both builds, then the real Java system and the kills.
test: build check pure unit interop crash

check: build
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy --strict -p eruca

unit: build
	ERUCA_EXPECT=compiled $(BIN)/python -m pytest -m "not interop and not crash and not long" tests

pure: build
	tests/run-interpreted $(BIN)/python -m pytest -m "not interop and not crash and not long" tests

interop: build
	$(BIN)/python -m pytest -m "interop and not long" tests

crash: build
	$(BIN)/python -m pytest -m "crash and not long" tests

test-long: build
	$(BIN)/python -m pytest -m long tests

clean:
	rm -rf $(VENV) build data
	find src -name '*.so' -delete
