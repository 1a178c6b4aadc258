# make sim | demo | test | build | install | deb | check-deep | check-live | results | mutate | docs. CMAKE_ARGS="-DYARD_TORCH_ROOT=..."
# goes to the first configuration; JOBS limits the parallel compilations.
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
# make install: to $(PREFIX)/bin, lib, libexec, include and share. $(DESTDIR) goes in front.
PREFIX ?= /usr/local
DESTDIR ?=
# make mutate: so many mutations of the rules, drawn by the seed.
MUTANTS ?= 240
SEED ?= 1
ONLY ?=

.PHONY: sim build all install deb demo test check-deep check-live results mutate docs clean

# The simulator alone, without LibTorch and gRPC: yardmaster and yardmaster-sim in build/bin.
sim:
	@scripts/install.sh sim
	@TARGETS="yardmaster yardmaster-sim" scripts/build.sh sim $(JOBS) $(CMAKE_ARGS)

# All programs.
build:
	@scripts/install.sh
	@TARGETS=programs scripts/build.sh release $(JOBS) $(CMAKE_ARGS)

# All programs and tests.
all: build
	@scripts/build.sh release $(JOBS)

install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(abspath $(PREFIX))"

# The Debian package: build/yardmaster_VERSION_amd64.deb.
deb: build
	@scripts/install.sh deb
	@cd build && cpack

demo: build
	@scripts/demo.sh

test: all
	@scripts/test_packages.sh
	@scripts/test.sh build $(JOBS)

check-deep: all
	@scripts/test_packages.sh
	@scripts/check_deep.sh $(JOBS)

# ONLY=stage: see the script.
check-live: build
	@ONLY="$(ONLY)" scripts/check_live.sh

# ONLY=stage: see the script.
results: build
	@ONLY="$(ONLY)" scripts/results.sh

mutate:
	@scripts/mutate.sh $(JOBS) $(MUTANTS) $(SEED)

# The documents as a web site: build/site/index.html.
docs:
	@scripts/docs.sh

clean:
	rm -rf build
