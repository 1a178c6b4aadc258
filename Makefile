# make demo | test | build | check-deep. CMAKE_ARGS="-DYARD_TORCH_ROOT=..." goes to the first
# configuration; JOBS limits the parallel compilations.
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=

.PHONY: build demo test check-deep clean

build:
	@scripts/install.sh
	@scripts/build.sh release $(JOBS) $(CMAKE_ARGS)

demo: build
	@scripts/demo.sh

test: build
	@scripts/test.sh build $(JOBS)

check-deep: build
	@scripts/check_deep.sh $(JOBS)

clean:
	rm -rf build
