# make demo   environment, build, the study of ACK compression, its report
# make lint   formatters, linters, types, layers; with --jobs=2, Rust beside Python
# make test   Rust, Python, and the commands of the documentation; .ci/run is both
# make scorecard  reruns all studies, writes docs/scorecard.md and fills the numbers of all pages
# make wheel  a wheel in out/wheels, with the studies inside
# make deb    a Debian package of that wheel in out/packages
# make site   the documentation as a site in out/site, with offline search
# make figure the figure of the README
# make study-figures  the figures on the pages of the studies, from results in $(OUT)
# make bench  the cost of a simulated packet, stored in docs/bench.json and shown in the README;
#   make profile: its parts
# make growth the cost of larger runs, by flows, stations, links, duration and windows: writes
#   docs/models/growth.md
# make digests  a digest of all tables of each scenario of the studies, benchmarks and tests, to
#   compare before and after a refactoring
# make validate  ns-3 and the kernel's TCP on the same paths, accuracy of emulations and of paths
#   between interfaces, random scenarios against invariants, timelines as scripts for the kernel,
#   and the whole quick grid of `ack_policies`, of which the tests run a share
#   (Debian's libns3-dev, root for namespaces; takes minutes)
# make validate-cluster  sweeps on a Ray cluster of several nodes on this machine, with killed
#   nodes, drivers and heads, and in an S3 store
# make chaos  faults and hostile inputs for ten minutes, as one table: bytes lost, which must be 0
#   (root for namespaces)
# make fuzz   endpoints in a hostile network and compressed ACKs, ten million of each; then
#   libFuzzer on all targets, ten minutes each (cargo install cargo-fuzz)
# make closed-forms  controllers and contention against formulas of the literature, at length
# Targets are incremental.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out
# The first Python that is new enough.
PYTHON ?= $(shell for name in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
# Without --no-compile, pip compiles all modules, which takes longer than the rest. Python compiles
# those that it imports.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

.PHONY: all install demo test test-rust test-python test-packages lint lint-rust lint-python format bench growth profile digests validate validate-cluster chaos closed-forms fuzz figure study-figures scorecard site wheel deb clean
all: install

# System packages: only what is missing, and only if we may.
$(VENV)/.tools: scripts/system-packages.sh
	./scripts/system-packages.sh build
	@mkdir -p $(VENV) && touch $@

$(VENV)/.requirements: requirements.txt $(VENV)/.tools
	@test -n "$(PYTHON)" || { echo "error: found no Python, expected 3.11 or newer" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r requirements.txt
	@touch $@

# The environment has one build of the core: the fast one of profile `quick`, or that of profile
# `dev` for the tests, which has assertions and shares the builds of `cargo test`. Each replaces the
# other.
$(VENV)/.core-quick $(VENV)/.core-dev: $(VENV)/.core-%: $(VENV)/.requirements pyproject.toml $(RUST)
	@command -v cargo >/dev/null || { echo "error: found no cargo, expected Rust 1.93 or newer (https://rustup.rs)" >&2; exit 1; }
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile $* --quiet
	@# Python compiles the modules of a run now and stores them, even if PYTHONDONTWRITEBYTECODE is
	@# set, as in many containers: otherwise each run takes twice as long.
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/acklab run studies/ack_compression/experiment_55.toml --set duration=1s >/dev/null
	@rm -f $(VENV)/.core-*
	@touch $@

# What only those need who change the project.
$(VENV)/.requirements-dev: requirements-dev.txt $(VENV)/.requirements
	$(PIP_INSTALL) -r requirements-dev.txt
	@touch $@

install: $(VENV)/.core-quick

demo: install
	$(BIN)/acklab study ack_compression --out $(OUT)
	@echo "The report: file://$$($(BIN)/acklab report $(OUT) | xargs realpath)"

# More than the number of processors: some tests wait in real time, and each process of Python
# starts slowly.
TEST_THREADS = $(shell echo $$(($$(nproc) + 2)))
TEST_PROCESSES = $(shell echo $$(($$(nproc) < 8 ? $$(nproc) + 1 : 8)))

test: test-rust test-python

# What the tests look at results with. Only one can install packages at a time.
test-packages: $(VENV)/.tools
	./scripts/system-packages.sh test

test-rust: test-packages
	command -v tshark >/dev/null || export ACKLAB_WITHOUT_TSHARK=1; RUST_TEST_THREADS=$(TEST_THREADS) cargo test --quiet

# Python stores compiled modules even if PYTHONDONTWRITEBYTECODE is set, as in many containers:
# otherwise each process compiles its libraries again.
test-python: export PYTHONDONTWRITEBYTECODE =
test-python: test-packages $(VENV)/.core-dev $(VENV)/.requirements-dev
	$(BIN)/python -m pytest -m "not timed and not alone" --numprocesses $(TEST_PROCESSES) --dist loadfile
	$(BIN)/python -m pytest -m timed --numprocesses $(TEST_PROCESSES)
	$(BIN)/python -m pytest -m alone
	@echo "$(VENV) holds the core that was tested, which is slow: \`make\` puts the fast one back."

lint: lint-rust lint-python

# Nothing links libFuzzer, so no C++ compiler is required. Cargo has its own jobs.
lint-rust: export CUSTOM_LIBFUZZER_PATH = /unused/libfuzzer.a
lint-rust: $(VENV)/.tools
	cargo fmt --all --check
	unset MAKEFLAGS MFLAGS; cargo clippy --workspace --all-targets --quiet -- -D warnings
	# Private items link to private items: the pages are for readers of the source. With Clippy's
	# driver, arguments and choice of crates, nothing is checked again.
	unset MAKEFLAGS MFLAGS; RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ \
		RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" cargo doc --workspace --no-deps --document-private-items --quiet

lint-python: $(VENV)/.requirements-dev
	$(BIN)/python scripts/layers.py
	$(BIN)/python scripts/crates.py
	$(BIN)/python scripts/language.py
	$(BIN)/ruff format --check python tests studies scripts validation
	$(BIN)/ruff check python tests studies scripts validation
	$(BIN)/mypy --num-workers auto

format: $(VENV)/.requirements-dev
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet python tests studies scripts validation
	$(BIN)/ruff format --quiet python tests studies scripts validation

# Wheels of profile `release`, and benchmarks, use profile-guided optimisation. PGO=no disables it,
# which saves two thirds of the build time.
PROFILE ?= release
PGO ?= yes
PGO_PROFILE := $(abspath target/pgo/core.profdata)
NEEDS_PGO := $(if $(filter yes,$(PGO)),$(PGO_PROFILE))
WITH_PGO := $(if $(NEEDS_PGO),RUSTFLAGS="$$RUSTFLAGS -Cprofile-use=$(PGO_PROFILE)")

$(PGO_PROFILE): $(RUST) $(VENV)/.requirements scripts/pgo.sh scripts/pgo_runs.py crates/lab/examples/digests.tsv
	./scripts/pgo.sh $(BIN)/python $@

bench: SHELL := /bin/bash -o pipefail
# With acklab-py, whose crates enable additional features: names of functions in the profile depend
# on these.
bench: $(NEEDS_PGO)
	$(MAKE) -C validation/ns3
	$(WITH_PGO) cargo bench --package acklab-lab --package acklab-py --bench cost --quiet | $(PYTHON) -m scripts.bench
	$(WITH_PGO) cargo bench --package acklab-deploy --package acklab-py --bench hosts --quiet
	# s2n-quic brings other versions of crates, and so it has a workspace of its own.
	cargo run --release --locked --quiet --manifest-path crates/deploy/benches/rivals/Cargo.toml

growth: install
	$(BIN)/python scripts/growth.py

profile:
	./scripts/profile.sh

digests:
	@cargo run --package acklab-lab --profile quick --quiet --example digests < crates/lab/examples/digests.tsv

validate: install
	$(BIN)/acklab study ack_policies --quick --out $(OUT)/quick
	$(MAKE) -C validation/ns3 run queue-lines
	$(BIN)/acklab study parity --way emulate --out $(OUT)
	$(BIN)/python validation/emulation/table.py
	$(BIN)/python validation/inline/table.py
	$(BIN)/python validation/scenarios/run.py --count 2000 --out $(OUT)/scenarios
	cargo run --quiet --package acklab-transport --example scripts -- $(OUT)/scripts
	$(BIN)/python validation/packetdrill/table.py $(OUT)/scripts

# A Ray cluster of several nodes on this machine, and an S3 server, which has its own environment,
# because it requires older packages.
validate-cluster: install $(VENV)/.requirements-dev
	$(PIP_INSTALL) 'ray>=2.40'
	test -x $(VENV)/moto/bin/moto_server || { $(PYTHON) -m venv $(VENV)/moto && $(VENV)/moto/bin/python -m pip install --quiet --disable-pip-version-check 'moto[server]'; }
	MOTO_SERVER=$(abspath $(VENV))/moto/bin/moto_server $(BIN)/python -m pytest tests/cluster.py

# Root for namespaces, mounts and control groups.
chaos: install
	./scripts/system-packages.sh chaos
	$(BIN)/python validation/chaos/table.py

fuzz:
	ACKLAB_STEPS=10000000 cargo test --package acklab-transport --test endpoints --quiet -- --nocapture
	ACKLAB_STEPS=10000000 cargo test --package acklab-transport --test tack --test quic --quiet -- --nocapture
	ACKLAB_HOSTILE=10000000 cargo test --package acklab-deploy --lib --quiet -- --nocapture hostile
	ACKLAB_STEPS=10000000 cargo test --package acklab-wire --test integration --quiet -- --nocapture random_acks
	./scripts/fuzz.sh

closed-forms:
	cargo test --package acklab-lab --test integration --quiet closed_forms -- --include-ignored --nocapture
	cargo test --package acklab-wifi --test integration --quiet bianchi -- --include-ignored --nocapture

scorecard: install
	$(BIN)/acklab study --all --out $(OUT)
	$(BIN)/python -m scripts.scorecard $(OUT)
	$(BIN)/python -m scripts.study_pages $(OUT)

site: install $(VENV)/.requirements-dev
	$(BIN)/python scripts/documentation.py $(OUT)/site $(OUT)

# The studies are copied into the package during the build, so that `acklab study` works outside a
# checkout.
wheel: $(VENV)/.requirements $(if $(filter release,$(PROFILE)),$(NEEDS_PGO))
	rm -rf python/acklab/shipped && cp -r studies python/acklab/shipped && find python/acklab/shipped -name __pycache__ -prune -exec rm -rf {} +
	$(if $(filter release,$(PROFILE)),$(WITH_PGO)) $(BIN)/maturin build --profile $(PROFILE) --out $(OUT)/wheels; built=$$?; rm -rf python/acklab/shipped; exit $$built

deb: wheel
	packaging/deb.sh $$(ls -t $(OUT)/wheels/*.whl | head -1) $(OUT)/packages

figure: install
	$(BIN)/python scripts/readme_figure.py

study-figures: install
	$(BIN)/python scripts/study_figures.py $(OUT)

clean:
	rm -rf $(VENV) $(OUT) target python/acklab/*.so
