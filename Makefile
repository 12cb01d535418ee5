# SPDX-License-Identifier: BSD-3-Clause
# Thin: each target is one or two commands that one could type oneself.
PREFIX ?= /usr/local
.PHONY: help build check check-long check-mpi4py check-fortran check-apps check-abi check-arm64 demo bench report picture install uninstall wheel deb dist docs format format-check clean

help: ## show this list
	@grep -E '^[a-z0-9-]+:.*## ' Makefile | sed -E 's/^([a-z0-9-]+):.*## /  make \1\t/' | expand -t 22

build: ## set up what is missing and build a tree that works in place: build/bin, build/lib
	./bootstrap --minimal
	cmake --preset release
	cmake --build --preset release

check: ## build and test: the release tree with gcc, the sanitizers' trees with clang; lint, format
	./bootstrap --dev --lint
	@./bootstrap --venv || echo "no .venv: the check of the generated MPI binding will be skipped"
	tools/check

check-long: ## what `make check` leaves out: whole matrices of ranks, all under AddressSanitizer (hours)
	./bootstrap --dev --lint --venv
	tools/check --long

check-mpi4py: build ## all of mpi4py's own tests, with 1, 2, 3 and 5 ranks, and 4 on two test hosts
	tests/programs/mpi4py/run --build build --ranks 1,2,3,5
	tests/programs/mpi4py/run --build build --hosts || test $$? = 77

check-fortran: build ## others' tests of MPI in Fortran: PnetCDF, parallel HDF5, MPICH
	./bootstrap --apps
	tests/applications/run --build build --fortran

check-apps: build ## others' tests of MPI: PnetCDF, HDF5, MPICH, PETSc, p4est, FFTW; programs with threads (hours)
	./bootstrap --apps
	tests/applications/run --build build

check-abi: build ## programs that others built with Open MPI and MPICH, as their packages have them, on Sinew
	tests/abi_foreign/others.py --build build || test $$? = 77

check-arm64: ## cross-build for 64-bit ARM, and run unit tests and programs of MPI and Fortran by qemu
	./bootstrap --arm64
	tests/arm64/run || test $$? = 77

demo: ## build, run MPI programs nobody here wrote, and the latency table
	./bootstrap --demo  # before the tree is configured, so that it has what the demo runs
	@$(MAKE) --no-print-directory build
	tools/demo

bench: build ## the quick measurements, beside the peers that are found
	build/bin/sinew bench --quick

report: build ## all measurements as one page, in a quarter of an hour; FULL=1: in hours, resumable
	-tools/peers  # without them, what is there
	tools/report $(if $(FULL),--full)

picture: build ## draw docs/measured.svg from docs/measured.json; MEASURE=1: measure that first, on a quiet machine
	$(if $(MEASURE),build/bin/sinew bench latency --repeat 10 --json docs/measured.json)
	$(if $(MEASURE),sed -i 's|$(CURDIR)/||g' docs/measured.json)
	build/bin/sinew report docs/measured.json --figure latency-one-thread > docs/measured.svg.new
	mv docs/measured.svg.new docs/measured.svg

install: build ## copy to PREFIX (default: /usr/local)
	cmake --install build --prefix $(PREFIX)

uninstall: ## remove from PREFIX what `make install` has copied there
	cmake -DPREFIX=$(PREFIX) -P cmake/SinewUninstall.cmake

wheel: build ## make dist/sinew-*.whl: Sinew for a Python environment, in seconds (pip install)
	tools/wheel

deb: build ## make dist/*.deb: packages for Debian and Ubuntu, in half a minute (needs debhelper)
	tools/deb

dist: ## make dist/sinew-VERSION.tar.gz: the sources of the last commit, which build without git
	tools/dist

docs: build ## build/docs: the pages, and the table of settings as this build knows it
	cmake -P cmake/SinewDocs.cmake

format: ## rewrite the sources as clang-format wants them
	cmake -DMODE=-i -P cmake/SinewFormat.cmake

format-check: ## say which sources clang-format would rewrite
	cmake -DMODE=--dry-run -P cmake/SinewFormat.cmake

clean: ## remove build/
	rm -rf build
