# make demo | test | build | check-deep | results | mutate. CMAKE_ARGS="-DYARD_TORCH_ROOT=..." goes to the first
# configuration; JOBS limits the parallel compilations.
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
# make mutate: so many mutations of the rules, drawn by the seed.
MUTANTS ?= 240
SEED ?= 1
ONLY ?=

.PHONY: build demo test check-deep results mutate clean

build:
	@scripts/install.sh
	@scripts/build.sh release $(JOBS) $(CMAKE_ARGS)

demo: build
	@scripts/demo.sh

test: build
	@scripts/test_packages.sh
	@scripts/test.sh build $(JOBS)

check-deep: build
	@scripts/test_packages.sh
	@scripts/check_deep.sh $(JOBS)

# ONLY=stage: see the script.
results: build
	@ONLY="$(ONLY)" scripts/results.sh

mutate:
	@scripts/mutate.sh $(JOBS) $(MUTANTS) $(SEED)

clean:
	rm -rf build
