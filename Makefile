# Needs nothing but python3 (3.11 or newer) and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-torch test-agents agents parts check mutants bench soak format clean

setup: .venv/.ready

.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "manyhands needs Python 3.11 or newer; try `make PYTHON=python3.12`")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/manyhands demo

# Three at a time also on two cores: much of a test is waiting for processes and servers.
test: setup parts
	$(BIN)/pytest -n 3 --dist loadgroup $(ARGS)

# What some tests need and no wheel carries. Where it cannot be had those tests are skipped, and say so.
parts:
	@for part in chromium redis-server; do \
		command -v $$part >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null \
		|| { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$part; } >/dev/null 2>&1 \
		|| echo "$$part could not be installed; the tests that need it are skipped"; done

# Real agent programs, beside the repository; about 700 MB. Tests that need them are skipped where they are not.
AGENTS ?= $(HOME)/.cache/manyhands-agents
agents:
	npm install --silent --no-audit --no-fund --prefix $(AGENTS) \
		@openai/codex @anthropic-ai/claude-code @qwen-code/qwen-code@0.15.10

# With loopback alone, where this user may have a network of its own: no agent reaches a real service from a test.
RUN_AGENTS := MANYHANDS_AGENTS=$(AGENTS) $(BIN)/pytest tests/hosts/agents $(ARGS)
test-agents: setup agents
	if unshare -rn true 2>/dev/null; then unshare -rn sh -c 'ip link set lo up && $(RUN_AGENTS)'; else $(RUN_AGENTS); fi

# The tests that hold our encoders against torch, in an environment of their own: torch is large and nothing else needs it.
test-torch: .venv-torch/.ready
	.venv-torch/bin/pytest tests/worker/backends $(ARGS)

.venv-torch/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	.venv-torch/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[torch]' pytest pytest-asyncio pytest-xdist hypothesis
	touch $@

# Seeded bugs, each with the test that must find it. About a minute for every ten of them.
mutants: setup
	$(BIN)/python tests/mutants.py $(ARGS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each file answers one question, prints a table and appends to bench/results.jsonl.
bench: setup
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,peers]'
	for question in bench/[a-z]*.py; do $(BIN)/python $$question || exit 1; done
	$(BIN)/python bench/readme_numbers.py

# The long campaigns; `make test` runs a short seeded slice of each.
soak: setup
	MANYHANDS_SOAK=1 $(BIN)/pytest -m slow $(ARGS)

clean:
	rm -rf .venv .venv-torch build dist .pytest_cache .mypy_cache .ruff_cache
