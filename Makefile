# Needs nothing but python3 (3.11 or newer) and make; everything else goes into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-torch test-agents test-few-agents run-agents agents parts check docs lock sbom audit mutants bench soak format clean

PIP_INSTALL := $(BIN)/pip install --disable-pip-version-check --constraint constraints.txt

setup: .venv/.ready

# What a user installs: about 54 MB. It is enough for the demo and for every command without an extra.
.venv/.plain: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "manyhands needs Python 3.11 or newer; try `make PYTHON=python3.12`")'
	@echo "installing manyhands into .venv (about 54 MB)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --disable-pip-version-check --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

# What the tests need in addition: Ray, models, PostgreSQL. It takes minutes, so it shows what it does.
.venv/.ready: pyproject.toml constraints.txt | .venv/.plain
	@echo "installing what the tests need into .venv (about 1.4 GB; some minutes)"
	@$(PIP_INSTALL) --editable '.[dev]' | grep --line-buffered -E '^(Collecting|  Downloading|Installing|Successfully|ERROR)' || true
	@$(BIN)/python -c 'import pytest, ruff, uv' || { echo "the parts of the tests could not be installed; run \`make setup\` again"; exit 1; }
	@touch $@

demo: .venv/.plain
	$(BIN)/manyhands demo

# Four at a time also on two cores: much of a test is waiting for processes and servers.
test: setup parts
	$(BIN)/pytest -n 4 --dist loadgroup $(ARGS)

# What some tests need and no wheel carries. Where it cannot be had those tests are skipped, and say so.
parts:
	@for part in chromium redis-server; do \
		command -v $$part >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null \
		|| { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$part; } >/dev/null 2>&1 \
		|| echo "$$part could not be installed; the tests that need it are skipped"; done

# Real agent programs, beside the repository; about 1.9 GB. Tests that need them are skipped where they are not.
AGENTS ?= $(HOME)/.cache/manyhands-agents
AGENT_PACKAGES ?= @openai/codex @anthropic-ai/claude-code @qwen-code/qwen-code@0.15.10 @google/gemini-cli opencode-ai
agents:
	mkdir -p $(AGENTS)
	npm install --silent --no-audit --no-fund --prefix $(AGENTS) $(AGENT_PACKAGES)
	[ -x $(AGENTS)/aider/bin/aider ] || { $(PYTHON) -m venv $(AGENTS)/aider && $(AGENTS)/aider/bin/pip install --quiet aider-chat; } \
		|| echo "aider could not be installed; its tests are skipped"

# With loopback alone, so that no agent reaches a real service from a test. Where that cannot be had they are not run.
WITH_LOOPBACK := unshare -rn sh -c
RUN_AGENTS := MANYHANDS_AGENTS=$(AGENTS) $(BIN)/pytest tests/hosts/agents $(ARGS)
test-agents: setup agents run-agents
run-agents:
	@$(WITH_LOOPBACK) 'ip link set lo up' 2>/dev/null || { echo "real agents run only where they reach no network, and" \
		"this user cannot have a network namespace (\`unshare -rn\` or \`ip link\` fails); run it as root, or allow user namespaces"; exit 1; }
	$(WITH_LOOPBACK) 'ip link set lo up && $(RUN_AGENTS)'

# One program that prints and one over ACP, in about two minutes. If they cannot be run nothing is tested, and that is said.
FEW_AGENTS := nothing_left and (codex or qwen-acp) or codex-quota or codex-hang
test-few-agents: setup
	mkdir -p $(AGENTS)
	@if ! $(WITH_LOOPBACK) 'ip link set lo up' 2>/dev/null; \
	then echo "SKIPPED: no agent program is run, because this user cannot have a network namespace"; \
	elif timeout 300 npm install --silent --no-audit --no-fund --prefix $(AGENTS) $(wordlist 1,1,$(AGENT_PACKAGES)) $(wordlist 3,3,$(AGENT_PACKAGES)); \
	then $(MAKE) run-agents ARGS='-k "$(FEW_AGENTS)"'; else echo "SKIPPED: no agent program could be installed"; fi

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

# The documentation as a book, to be read from disk or served by anything. A link that leads nowhere is an error.
docs: .venv/.plain
	@$(PIP_INSTALL) --quiet --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/book/index.html"

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# What users install, each file with its hash: after a change of the dependencies or of constraints.txt.
lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-header --constraint constraints.txt \
		--python-version 3.11 pyproject.toml --output-file requirements.lock

# What is in an installation, in CycloneDX, for those who must list it.
sbom: setup
	mkdir -p dist
	$(BIN)/uv tool run --from cyclonedx-bom cyclonedx-py requirements requirements.lock --pyproject pyproject.toml \
		--output-reproducible --output-file dist/manyhands.cdx.json

# Known weaknesses of what users install. It asks PyPI, so it is not part of `make check`.
audit: setup
	$(BIN)/uv tool run pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Each file answers one question, prints a table and appends to bench/results.jsonl.
bench: setup
	$(PIP_INSTALL) --quiet --editable '.[dev,peers]'
	for question in bench/[a-z]*.py; do $(BIN)/python $$question || exit 1; done
	$(BIN)/python bench/readme_numbers.py
	$(BIN)/python bench/campaign_page.py

# The long campaigns; `make test` runs a short seeded slice of each.
soak: setup
	MANYHANDS_SOAK=1 $(BIN)/pytest -n 2 --dist loadgroup -m slow $(ARGS); done=$$?; $(BIN)/python bench/campaign_page.py; exit $$done

clean:
	rm -rf .venv .venv-torch build dist .pytest_cache .mypy_cache .ruff_cache
