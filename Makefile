# Two commands are all that is needed: `make demo` and `make test`. Both install what is missing first.

SWIFT ?= swift
OBJECTS ?= 100000
SEED ?= 1
DEMO_DIRECTORY ?= .build/demo
SOURCES = Package.swift Sources Conformance Tests Benchmarks/Package.swift Benchmarks/Sources

.PHONY: setup demo test lint docs clean

# The C libraries of the backends, from the system's package manager.
setup:
	@./Scripts/setup

demo: setup
	$(SWIFT) build --configuration release --product roost
	.build/release/roost demo --objects $(OBJECTS) --seed $(SEED) --directory $(DEMO_DIRECTORY)

test: setup
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --parallel

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@./Scripts/lint

docs: setup
	@./Scripts/docs

clean:
	rm -rf .build
