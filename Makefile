# `make test` and `make demo` set everything up on a fresh machine: they make .venv beside
# this file and install physim into it, once, and again when the dependencies change.
# Another interpreter: make PYTHON=/path/to/python3.10 test

SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-slow lint types imports wheel check-wheel clean

BIN := .venv/bin
STAMP := .venv/.installed
PYTHON ?=
DEMO_ROLLS ?= 2000

help:
	@echo 'make demo         2000 rolls, their statistics beside the published ones, a picture'
	@echo 'make test         the tests; test-slow: those that take minutes'
	@echo 'make lint types imports   style, types, import contracts'
	@echo 'make wheel        build dist/; check-wheel: install it elsewhere and try it'
	@echo 'make clean        remove what was made, .venv too; out/ stays'

setup: $(STAMP)

# Takes the first interpreter that runs and is new enough: 3.11 and 3.10 come first because
# PyBullet is published ready-built for them; newer ones have the compiled engine and MuJoCo.
$(STAMP): pyproject.toml constraints.txt
	@set -e; \
	python=; \
	for name in "$(PYTHON)" python3.11 python3.10 python3 python3.14 python3.13 python3.12; do \
	  [ -n "$$name" ] || continue; \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then \
	    python=$$name; break; \
	  elif [ "$$name" = "$(PYTHON)" ]; then \
	    echo "PYTHON=$$name does not run or is older than Python 3.10." >&2; exit 1; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'physim needs Python 3.10 or newer; none was found.' >&2; \
	  echo 'Remedy: install it (Debian, Ubuntu: apt-get install python3 python3-venv),' >&2; \
	  echo 'or name one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)' >&2; \
	  exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$python" --version)"; \
	rm -rf .venv; \
	if "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
	  "$$python" -m venv .venv; \
	elif "$$python" -m virtualenv --version >/dev/null 2>&1; then \
	  "$$python" -m virtualenv --quiet .venv; \
	elif virtualenv --version >/dev/null 2>&1; then \
	  virtualenv --quiet --python "$$python" .venv; \
	else \
	  echo "$$python cannot make virtual environments: its venv module is missing." >&2; \
	  echo 'Remedy: apt-get install python3-venv (Debian, Ubuntu), or pip install virtualenv' >&2; \
	  exit 1; \
	fi; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	echo 'Compiling the physics, once: about a minute'; \
	$(BIN)/physim roll -n 60 --toss hand >/dev/null; \
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/physim batch $(DEMO_ROLLS) --seed 1 --toss trapdoor --out out/demo
	$(BIN)/physim stats out/demo --against kern2006
	$(BIN)/physim render --sheet out/demo --out out/demo/poses.png
	@echo 'The picture: out/demo/poses.png'

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

# The wheel is built from the source archive, so both are checked.
wheel: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

# A wheel must bring its data along and work from any folder.
check-wheel: wheel
	rm -rf build/wheel-check
	mkdir -p build/wheel-check/elsewhere
	$(BIN)/python -m venv build/wheel-check/venv
	build/wheel-check/venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/physim_pigs-*.whl
	cd build/wheel-check/elsewhere && ../venv/bin/python -c \
	  'from physim.files import data_folder as f; \
	  assert all("site-packages" in str(f(n)) for n in ("meshes", "calibration")), f("meshes")'
	cd build/wheel-check/elsewhere && ../venv/bin/physim --version
	cd build/wheel-check/elsewhere && ../venv/bin/physim model list
	cd build/wheel-check/elsewhere && ../venv/bin/physim score razorback snouter --json
	rm -rf build/wheel-check

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
