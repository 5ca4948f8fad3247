# WeightRollout. `make` prints what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
BIN := $(CURDIR)/$(VENV)/bin
export PATH := $(BIN):$(PATH)
READY := $(VENV)/.ready
PYTEST := $(PY) -m pytest
# Lanes side by side, a whole file in one of them; each has a control plane of its own. LANES=0 for one, with output as it comes.
LANES ?= 2
LANED = $(PYTEST) --numprocesses $(LANES) --dist loadfile
# A Python of the same version that has torch: named, or the one with a real vLLM (built once, 6 GB).
TORCH = torch=$${WEIGHTROLLOUT_TORCH:-$$(PYTHONPATH=tests $(PY) -m realvllm)} && test -n "$$torch"

.PHONY: $(shell grep -ohE '^[a-z-]+:' $(MAKEFILE_LIST) | tr -d :)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(READY) ## the virtual environment with everything that the other targets need

$(READY): pyproject.toml constraints.txt hatch_build.py operator/weightrollout/plugin/transfer/streaming.c
	@echo "setup: virtual environment in $(VENV) (about a minute the first time)"
	@test -x $(PY) || python3 -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

check: $(READY) ## format, lint, types, import contracts, generated files
	$(BIN)/ruff format --check operator tests proto hatch_build.py
	$(BIN)/ruff check operator tests proto hatch_build.py
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(PY) proto/generate.py --check
	$(PY) -m weightrollout.api.generate --check
	$(PY) -m weightrollout.cli.reference --check
	$(PY) -m weightrollout.metrics_reference --check
	$(PY) -m weightrollout.agent.rl.reference --check

format: $(READY) ## format and fix what a machine can fix
	$(BIN)/ruff format operator tests proto hatch_build.py
	$(BIN)/ruff check --fix operator tests proto hatch_build.py

generate: $(READY) ## stubs, CRD (the chart's copy too), reference of API, CLI, metrics and RL routes from their sources
	$(PY) proto/generate.py
	$(PY) -m weightrollout.api.generate --write
	$(PY) -m weightrollout.cli.reference --write
	$(PY) -m weightrollout.metrics_reference --write
	$(PY) -m weightrollout.agent.rl.reference --write

test: check test-unit test-contract test-sources test-cluster test-chart test-faults chaos ## check and every tier that this machine can run (not: real vLLM)

test-unit: $(READY) ## unit, property and story tests: anywhere, some minutes
	$(LANED) -m 'not faults' tests/unit tests/property

# Without the frontend's binary its tests skip with the reason; WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 makes that a failure.
test-contract: $(READY) ## one suite of engine behaviour: the simulator, and vLLM's real frontend
	@$(MAKE) --no-print-directory frontend || true
	$(PYTEST) -m 'not real_engine' tests/contract

# Not part of `make test` yet. A start takes half a minute and 2 GB, so one engine serves many tests.
test-vllm: vllm ## the same suite, and more, against a real vLLM on CPU
	$(PYTEST) -m real_engine tests/contract tests/vllm

# Apart from `make test`: an import of vLLM takes half a minute, and the wheel comes from the package index.
test-clients: vllm ## vLLM's and TRL's own clients, and prime-rl's calls, on an agent before simulated and real engines
	@PYTHONPATH=tests $(PY) -m foreignclients.trlwheel > /dev/null
	$(PYTEST) -m real_engine tests/foreignclients

# Every family of docs/compatibility.md: two engines each. Writes the list of layers that the plugin swaps (plugin/layers-*.json).
test-families: vllm ## a real vLLM of every model family is swapped and compared with a fresh process
	WEIGHTROLLOUT_FAMILIES=all WEIGHTROLLOUT_RECORD_LAYERS=1 $(PYTEST) -m real_engine tests/vllm/test_families.py

# Without a control plane the tests say so and skip; WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 makes that a failure.
test-cluster: $(READY) ## a real API server, agents and engines as processes of a virtual node
	@test -n "$$WEIGHTROLLOUT_KUBECONFIG" || $(MAKE) --no-print-directory cluster || true
	$(LANED) -m 'not faults' tests/cluster

# Without helm they say so and skip; WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 makes that a failure.
test-chart: $(READY) ## the Helm chart: rendered by the real helm, and taken by a real API server
	@$(MAKE) --no-print-directory helm || true
	@test -n "$$WEIGHTROLLOUT_KUBECONFIG" || $(MAKE) --no-print-directory cluster || true
	$(LANED) tests/chart

# Without the S3 server they say so and skip; WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 makes that a failure.
test-sources: $(READY) ## weights from a real S3 server, from HTTPS and from a hub, and all that can go wrong there
	@$(MAKE) --no-print-directory objectstore || true
	$(LANED) tests/sources

# Apart from `make test`: some hundred modules of Go and packages of npm, two minutes of both cores once; the tests take ten seconds.
test-clouds: $(READY) ## gs:// and az:// from fake-gcs-server and Azurite (needs node and npm)
	@PYTHONPATH=tests $(PY) -m objectstore clouds > /dev/null || true
	$(PYTEST) tests/clouds

# Apart from `make test`: it fetches packages of Debian where no haproxy is installed (or name one in WEIGHTROLLOUT_HAPROXY).
test-proxy: $(READY) ## the real HAProxy in front of an engine on loopback, with the example's configuration
	@PYTHONPATH=tests $(PY) -m proxy.haproxy > /dev/null || true
	$(PYTEST) tests/proxy

test-transfer: $(READY) ## the core that copies into live tensors, with a real torch (WEIGHTROLLOUT_TORCH=its Python)
	@$(TORCH) && WEIGHTROLLOUT_TORCH="$$torch" $(PYTEST) tests/unit/plugin

test-gpu: ## the same core on this machine's GPU; says so where there is none (PYTHON=one that has torch)
	@tests/gpu/run.sh

# Apart from the other two, so that these stay quick: each of them takes a minute or a restart of something.
test-faults: $(READY) ## engines, disks, API servers and leaders that fail; no operator; load
	@test -n "$$WEIGHTROLLOUT_KUBECONFIG" || $(MAKE) --no-print-directory cluster || true
	$(LANED) -m faults tests/unit tests/cluster

# Not part of `make test` yet. Without root it says so and skips; WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1 makes that a failure.
test-node: $(READY) ## a real kubelet, our images, our chart (root; Debian packages are installed where they are missing)
	@PYTHONPATH=tests $(PY) -m localnode build > /dev/null || true
	@$(MAKE) --no-print-directory helm || true
	$(PYTEST) -m 'not real_engine' tests/node

test-node-vllm: $(READY) vllm ## the main job with a real vLLM in a pod
	@PYTHONPATH=tests $(PY) -m localnode build > /dev/null || true
	@$(MAKE) --no-print-directory helm || true
	$(PYTEST) -m real_engine tests/node

kind-up: $(READY) ## a kind cluster for the same tests (WEIGHTROLLOUT_NODE_KIND=1 make test-node); needs kind and Docker
	@PYTHONPATH=tests $(PY) -m localnode kind

# One process is killed at every boundary there is, and seeded pairs: WEIGHTROLLOUT_CHAOS_PAIRS, _SEED, _LANES.
chaos: $(READY) ## kill operator, agents and engines everywhere, under traffic
	@test -n "$$WEIGHTROLLOUT_KUBECONFIG" || $(MAKE) --no-print-directory cluster || true
	$(PYTEST) tests/chaos

walk: $(READY) ## the planner with 5,000 random fleets in random trouble, new ones each time (WEIGHTROLLOUT_WALK=1000 for fewer)
	WEIGHTROLLOUT_WALK=$${WEIGHTROLLOUT_WALK:-5000} $(PYTEST) --timeout 3600 tests/property/test_planner.py -k 'no_invariant or no_disruption'

mutants: $(READY) ## remove each guard on purpose, in a copy, and print the test that sees it (some minutes)
	@PYTHONPATH=tests $(PY) -m mutants

cluster: $(READY) ## build the local control plane (once, cached outside the repository)
	@PYTHONPATH=tests $(PY) -m localcluster build > /dev/null

frontend: $(READY) ## fetch vLLM's frontend binary for the contract tests (once, 336 MB, cached outside the repository)
	@PYTHONPATH=tests $(PY) -m frontend build > /dev/null

objectstore: $(READY) ## build the S3 server of tests and demo, fetch the aws command (once, cached outside the repository)
	@PYTHONPATH=tests $(PY) -m objectstore > /dev/null

helm: $(READY) ## build helm (once, cached outside the repository)
	@PYTHONPATH=tests $(PY) -m helm build > /dev/null

goldens: $(READY) ## write the chart's goldens anew; look at the difference
	@PYTHONPATH=tests $(PY) -m helm goldens > /dev/null

# One folder per release, never changed afterwards: docs/upgrade.md.
record-wire: $(READY) cluster ## record what operator and agent of this release say to each other, for the releases to come
	@PYTHONPATH=operator:tests $(PY) -m wirerecord

vllm: $(READY) ## build the environment with a real vLLM for CPU (once, 6 GB, cached outside the repository)
	@PYTHONPATH=tests $(PY) -m realvllm > /dev/null

lock: $(READY) ## pin and hash what images install (requirements/), after a change of pyproject.toml or constraints.txt
	@PYTHONPATH=tests $(PY) -m images lock

# With Docker, else as root with buildah on a base from Debian's archive. BASE_IMAGE=, BUILD_IMAGE=, REVISION= name others.
image: $(READY) ## build the images of operator, agent, cli and simulator into the cache, and their SBOMs into build/sbom
	@PYTHONPATH=tests $(PY) -m images build

image-verify: $(READY) ## build the images a second time, and print what differs
	@PYTHONPATH=tests $(PY) -m images verify

# Not part of `make test` yet. Needs root, where images are unpacked and started.
test-image: image ## what is in the images, and that they start read-only, as nobody, without network
	@test -n "$$WEIGHTROLLOUT_KUBECONFIG" || $(MAKE) --no-print-directory cluster || true
	$(PYTEST) tests/image

demo: $(READY) cluster $(if $(filter vllm,$(ENGINE)),vllm) $(if $(filter s3,$(SOURCE)),objectstore) ## roll weights through a fleet under traffic; PAYLOAD=qwen3-0.6b, ENGINE=vllm, SOURCE=s3
	@PYTHONPATH=tests $(PY) -m demo

playground: $(READY) cluster ## a fleet to try things on, until Ctrl-C: docs/tutorial.md
	@PYTHONPATH=tests $(PY) -m demo.playground

docs-tutorial: $(READY) cluster ## follow docs/tutorial.md and write what came into it; look at the difference
	WEIGHTROLLOUT_UPDATE_DOCS=1 $(PYTEST) tests/cluster/test_tutorial_is_what_happens.py

bench: $(READY) cluster ## figures beside the alternative, into docs/benchmarks.md (a quiet machine, some minutes)
	@PYTHONPATH=tests $(PY) -m bench

# Less of it: BENCH_ONLY=tiny,tied,untied,draft,staging,transfer; BENCH_ROUNDS, BENCH_LOAD_ROUNDS, BENCH_STAGING_ROUNDS.
bench-swap: $(READY) vllm ## pauses of a real vLLM beside its own update and memcpy, into docs/benchmarks.md (a quiet machine, 12 minutes)
	@GRPC_ENABLE_FORK_SUPPORT=0 GRPC_VERBOSITY=ERROR PYTHONPATH=operator:tests $(PY) -m bench.swap

bench-transfer: $(READY) ## the copies of a pause beside memcpy and torch, into docs/benchmarks.md (a quiet machine)
	@$(TORCH) && PYTHONPATH=operator:tests "$$torch" -m bench.transfer

bench-node-volume: $(READY) ## eight pods of a node that stage from S3, with and without a node volume, into docs/benchmarks.md (a quiet machine, 3 minutes)
	@PYTHONPATH=operator:tests $(PY) -m bench.node_volume
# One object of so many GB, and the memory along the way: WEIGHTROLLOUT_BENCH_GB=5 (twice as much disk).
bench-sources: $(READY) ## staging from S3 and HTTPS beside curl, into docs/benchmarks.md (a quiet machine, 5 GB of disk, some minutes)
	@PYTHONPATH=operator:tests $(PY) -m bench.sources

# Another size: BENCH_SCALE_PODS=40 for a look in a minute, 1000 for the design's figure.
bench-scale: $(READY) cluster ## an operator with 300 pods: writes, CPU, memory, passes, into docs/benchmarks.md (a quiet machine, 4 minutes)
	@PYTHONPATH=operator:tests $(PY) -m bench.scale

# Another size, and then nothing is written: BENCH_TRAINING_PODS, BENCH_TRAINING_SECONDS.
bench-training: $(READY) cluster ## a trainer faster than its fleet: lags, writes, kills, into docs/benchmarks.md (11 minutes)
	@PYTHONPATH=operator:tests $(PY) -m bench.training

clean: ## remove what was built here (the cached control plane, helm and frontend stay)
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
