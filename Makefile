# Everything a developer types. `make` alone lists it. The work is in tools/.
.DEFAULT_GOAL := help
.PHONY: help setup build test test-long test-report test-faults debug quickstart bench lint check-newer format deps-headers clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

quickstart: setup ## build the program, compare five encodings on three tasks, and write a report
	@tools/build cpu lengthwise
	@tools/quickstart

setup: ## install what the build needs and is not there yet
	@tools/bootstrap

build: setup ## build/cpu/lengthwise and the tests
	@tools/build cpu

test: build ## build everything and run the tests
	@tools/test cpu -LE long

test-long: build ## run the tests that take minutes
	@tools/test cpu -L long

test-report: build ## open reports in a headless Chromium and test them there
	@tools/test-report

test-faults: build ## kill, damage and starve the program some thousand times; writes faults.json
	@python3 tests/faults/run.py --program build/cpu/lengthwise --json faults.json

debug: setup ## build and test with the address and undefined-behaviour sanitizers
	@tools/build cpu-debug
	@tools/test cpu-debug -LE long

bench: setup ## measure speed; writes bench.json
	@tools/build cpu lengthwise benches
	@python3 bench/run.py --build build/cpu --out bench.json

lint: build ## check formatting (clang-format) and code (clang-tidy)
	@tools/lint

check-newer: setup ## read every source with clang 19 and the headers of Debian 13 (fetched where they are missing)
	@tools/check-newer

format: ## format every source file
	@tools/lint --fix

deps-headers: ## fetch toml++ and CUTLASS into .deps/include, for the build with CUDA
	@tools/deps-headers

clean: ## remove the builds; .venv and .deps stay
	@rm -rf build bench.json faults.json
