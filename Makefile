# A thin front for CMake; CONTRIBUTING.md says what each target does.
PRESET ?= default
JOBS ?= $(shell nproc)
RECORD ?= build/cpu.json
SECONDS ?= 60
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash

build_packages := cmake g++ make zlib1g-dev libboost-program-options-dev libopenblas-dev nlohmann-json3-dev
bench_packages := $(build_packages) libgraphblas-dev
python_packages := python3-venv python3-dev
test_packages := $(bench_packages) doctest-dev libeigen3-dev doxygen python3-matplotlib libopenmpi-dev libmpich-dev libmetis-dev pkg-config dpkg-dev file zsh fish \
  $(python_packages)

# A new folder gets the library and the examples only; one that has tests or benchmark keeps them.
configure := cmake --preset $(PRESET)
configure_new := $(configure) $(if $(wildcard build/CMakeCache.txt),,-DRIG_TESTS=OFF -DRIG_BENCH=OFF)
sources := find include semirings src tests examples -name '*.[ch]pp' -o -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh'
data := $(or $(RIG_DATA),../shared/data)
cora := $(wildcard $(data)/cora/graph.mtx)
graph := $(if $(cora),--graph $(cora),--generate karate)
labelled := $(if $(cora),$(data)/cora --normalize-features,reddit-like:1000)

.PHONY: build check demo test test-gpu test-gpu-sanitize test-fuzz wheel package bench docs pages lint format format-check
.NOTPARALLEL:

build:
	.ci/packages $(build_packages)
	$(configure_new)
	cmake --build build -j $(JOBS)

demo:
	.ci/packages $(build_packages)
	$(configure_new)
	cmake --build build -j $(JOBS) --target example_sage example_pagerank example_bfs example_components gnn_train
	@echo; echo "A layer of GraphSAGE: each node takes the greatest features of its neighbours."
	build/examples/sage --aggregate pool --hidden 64 $(graph)
	@echo
	build/examples/sage --aggregate pool --hidden 64 --generate rmat:16:16
	@echo; echo "A graph convolutional network, trained: the classes of papers from words and citations."
	build/examples/gnn_train --hidden 16 --data $(labelled)
	@echo; echo "PageRank: how often a walk along the arcs meets each node."
	build/examples/pagerank $(graph)
	@echo
	build/examples/pagerank --generate rmat:16:16
	@echo; echo "Breadth-first search from node 0, and connected components."
	build/examples/bfs --source 0 --generate rmat:16:16
	@echo
	build/examples/components --generate rmat:16:16
	@echo; echo "Try next:"
	@echo "  build/examples/pagerank FILE                    your own graph: Matrix Market or an edge list"
	@echo "  build/examples/sage --generate karate --explain   why a kernel is chosen"
	@echo "  docs/guide/README.md                            the guide"

# Whatever takes minutes is left to "make test".
check:
	.ci/packages $(test_packages)
	cmake --preset check
	cmake --build build/check -j $(JOBS)
	ctest --test-dir build/check -j $(JOBS) --output-on-failure --no-tests=error \
	  -E '^(sanitize_|package|must_not_compile_|include_check|kernels_|graphblas_)'

test: format-check
	.ci/packages $(test_packages)
	$(configure) -DRIG_TESTS=ON -DRIG_BENCH=ON
	cmake --build build -j $(JOBS)
	set -o pipefail; ctest --test-dir build -j $(JOBS) --output-on-failure --no-tests=error -LE gpu | awk -f tests/slowest.awk

test-gpu:
	.ci/packages $(test_packages)
	$(configure) -DRIG_TESTS=ON
	cmake --build build -j $(JOBS)
	ctest --test-dir build --output-on-failure --no-tests=error -L '^gpu$$'

test-gpu-sanitize:
	.ci/packages $(test_packages)
	$(configure) -DRIG_TESTS=ON
	cmake --build build -j $(JOBS) --target gpu_small_battery
	ctest --test-dir build --output-on-failure --no-tests=error -L '^sanitize-gpu$$'

# The Debian packages: build/packages/*.deb.
package:
	.ci/packages $(build_packages) dpkg-dev file
	$(configure_new)
	cmake --build build -j $(JOBS)
	cpack --config build/CPackConfig.cmake

# Each target of tests/fuzz for SECONDS, from the files of its corpus; what it finds is in build/fuzz.
test-fuzz:
	.ci/packages $(build_packages) clang libclang-rt-dev libomp-dev
	cmake --preset fuzz
	cmake --build build/fuzz -j $(JOBS)
	for target in tests/fuzz/corpus/*; do \
	  name=$${target##*/}; mkdir -p build/fuzz/corpus/$$name; \
	  build/fuzz/tests/fuzz/fuzz_$$name -max_total_time=$(SECONDS) -artifact_prefix=build/fuzz/ \
	    build/fuzz/corpus/$$name $$target || exit 1; \
	done

# The Python package with the library in it: dist/rigblas-*.whl.
wheel:
	.ci/packages $(build_packages) $(python_packages)
	$(configure_new)
	cmake --build build -j $(JOBS) --target rig
	cmake --install build --prefix build/prefix
	src/python/make_wheel.sh build/prefix dist

bench:
	.ci/packages $(bench_packages)
	$(configure) -DRIG_BENCH=ON
	cmake --build build -j $(JOBS) --target bench
	build/bench cpu --record $(RECORD)

docs:
	.ci/packages doxygen
	docs/site/make.sh build/docs
	@echo "The site is build/docs/html/index.html"

# The pages that show records, and their plots.
pages:
	.ci/packages python3-matplotlib
	/usr/bin/python3 docs/site/pages.py performance docs/records/*.json --plots docs/plots > docs/performance.md
	/usr/bin/python3 docs/site/pages.py accuracy docs/records/accuracy/*.jsonl --plots docs/plots > docs/accuracy.md

# Host code of the library, without what is configured from builtin.cpp.in: all of it says the same. Files of a
# room are read together, as they are compiled. clang has no omp.h of its own, so g++'s folder comes last on the path.
lint:
	.ci/packages $(build_packages) clang-tidy
	$(configure) -B build/lint -DRIG_EXAMPLES=OFF -DRIG_TESTS=OFF -DRIG_BENCH=OFF
	set -o pipefail; find src/*.cpp build/lint/CMakeFiles/rig.dir/Unity -name "*.c*" -not -name "unity_builtin*" | \
	  xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/lint \
	  --extra-arg=-idirafter$$(g++ -print-file-name=include) --extra-arg=-Wno-error

format:
	.ci/packages clang-format
	$(sources) | xargs clang-format -i

format-check:
	.ci/packages clang-format
	$(sources) | xargs clang-format --dry-run -Werror
