# `make demo`, `make demo-device` and `make test` work on a fresh Debian or Ubuntu with Python 3.11+ and make: each installs what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPUTING := tests/client tests/registry tests/decoder tests/simulations

.PHONY: demo demo-device test lint format bench vectors mutants constraints clean

demo: $(READY)
	$(BIN)/hubbub demo --output demo-output

# Boards on the real MicroPython, over HTTP and MQTT. Installs mosquitto, the MQTT broker, where it is missing.
demo-device: $(READY)
	sh tests/firmware/install_mosquitto.sh
	$(BIN)/hubbub demo-device --output demo-device-output

# One thread for linear algebra: the matrices are small, and threads that wait for each other cost more than they give.
# What only computes runs in two processes; servers, brokers and kills have the machine to themselves.
# MicroPython as WebAssembly is fetched first and held against its hash, so that no test of it is ever skipped.
test: lint
	sh tests/firmware/install_mosquitto.sh
	sh tests/collector/install_postgresql.sh
	sh tests/collector/install_tools.sh
	$(BIN)/python -m tests.firmware.portable.webassembly.install
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2 --dist worksteal $(COMPUTING)
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest $(addprefix --ignore=,$(COMPUTING))

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Ratios in one run, the peers in environments of their own. Some minutes.
bench: $(READY)
	$(BIN)/hubbub bench

# Plants small faults in the privacy-critical files, one at a time, and sees whether a test notices. An hour or two.
mutants: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check cosmic-ray==8.7.0
	$(BIN)/python -m tests.mutants.run

vectors: $(READY)
	$(BIN)/python -m tests.vectors.make

# Pins every package of the development environment by version and hash, with no address in it.
constraints: $(READY)
	$(BIN)/pip install --quiet pip-tools
	$(BIN)/pip-compile --quiet --upgrade --extra dev --generate-hashes --strip-extras --allow-unsafe --no-annotate \
	  --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host -o constraints.new pyproject.toml
	sed '/^#/d; /^hubbub @/d' constraints.new > constraints.txt
	rm constraints.new

clean:
	rm -rf $(VENV) demo-output demo-device-output .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hubbub needs Python 3.11 or later; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "installing python3-venv, which Debian keeps apart from python3"; \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -q && apt-get install -q -y python3-venv; \
	  else sudo apt-get update -q && sudo apt-get install -q -y python3-venv; fi; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)
