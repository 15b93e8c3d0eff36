# Start with `make demo` and `make test`. Both first install missing libraries.

SWIFT ?= swift
OBJECTS ?= 100000
SEED ?= 1
OPERATIONS ?= 1000000
QUERIES ?= 1000000
# Each kind of history runs 30 to 80 steps on four stores: more than 300 000 steps in all.
HISTORIES ?= 200
REQUESTS ?= 10000
ROUNDS ?= 200
STATES ?= all
FAULTS ?= all
FILES ?= 20000
COREDATA ?= 5000
KILLS ?= 500
LIMITS ?= 64
DEMO_DIRECTORY ?= .build/demo
# Deterministic hashing keeps the order of the traits' flags. Without it, SwiftPM 6.3 would
# recompile everything in half of all builds
# (https://github.com/swiftlang/swift-package-manager/issues/10525). Tests run without it, because
# it would hide mistakes that depend on order.
# BUILD_FLAGS has further options, for example `-debug-info-format none` for a faster build.
SWIFT_BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build $(BUILD_FLAGS)
SOURCES = Package.swift Sources Plugins Conformance Tests Examples Benchmarks/Package.swift Benchmarks/Sources

.PHONY: setup demo demo-postgresql install deb tool test test-all browse-test costs strangers faults campaigns fuzz bench bench-scaling bench-postgresql bench-writers bench-objects bench-history bench-import bench-build lint api docs clean

# Installs missing system libraries and, with apt, the PostgreSQL server of the tests.
setup:
	@./Scripts/setup

demo: setup
	ROOST_UNOPTIMIZED=RoostConformance $(SWIFT_BUILD) --configuration release --product roost
	.build/release/roost demo --objects $(OBJECTS) --seed $(SEED) --directory $(DEMO_DIRECTORY)

# The demo's music library on a temporary PostgreSQL server: converted there and back, queried, and
# shown in psql.
demo-postgresql: setup
	$(SWIFT_BUILD) --configuration release --product roost --traits SQLite,LMDB,PostgreSQL
	OBJECTS=$(OBJECTS) SEED=$(SEED) DIRECTORY=$(DEMO_DIRECTORY) ./Scripts/with-postgres ./Scripts/demo-postgresql

# The program for installation, which includes the Swift runtime if possible.
TOOL_TRAITS ?= --traits SQLite,LMDB,PostgreSQL,Interactive
TOOL = .build/install/release/roost
tool: setup
ifeq ($(shell uname -s),Linux)
	flags=$$(SWIFT=$(SWIFT) ./Scripts/icu-data .build/install/icu.dat) && \
		eval "$(SWIFT_BUILD) --configuration release --product roost --scratch-path .build/install $(TOOL_TRAITS) --static-swift-stdlib $$flags"
else
	$(SWIFT_BUILD) --configuration release --product roost --scratch-path .build/install $(TOOL_TRAITS)
endif

# Installs the program, its manual page and its completions: make install PREFIX=~/.local
PREFIX ?= /usr/local
install: tool
	@./Scripts/install $(TOOL) "$(PREFIX)"

# A package for Debian and Ubuntu, in .build: apt install ./.build/roost_…_amd64.deb
deb: tool
	@./Scripts/deb $(TOOL) .build

# The trait PlantedFaults lets tests plant faults in contexts, which the checks must find. Releases
# are built without it.
TEST_TRAITS ?= --traits SQLite,LMDB,PostgreSQL,Macros,Interactive,PlantedFaults

# Compares the public declarations with docs/api, which takes seconds, and then runs the tests:
# `make test` runs all but the long ones, `make test-all` runs all. `make test ONLY=RoostQuery`
# builds and runs only the tests of one module, in a separate build folder.
ifeq ($(ONLY),)
test: setup
	$(SWIFT_BUILD) --build-tests $(TEST_TRAITS)
	@SWIFT=$(SWIFT) ./Scripts/api
	SWIFT=$(SWIFT) ./Scripts/with-postgres ./Scripts/test --skip-build --parallel $(TEST_TRAITS)
test-all:
	ROOST_TESTS=all $(MAKE) test
else
test: setup
	ROOST_ONLY=$(ONLY) $(SWIFT_BUILD) --build-tests $(TEST_TRAITS) --scratch-path .build/only-$(ONLY)
	ROOST_ONLY=$(ONLY) ./Scripts/with-postgres $(SWIFT) test --skip-build --parallel $(TEST_TRAITS) --scratch-path .build/only-$(ONLY)
endif

# Clicks through each view of `roost browse` in headless Chromium, and compares the page with the
# command's output. SCREENSHOTS=directory keeps pictures. Requires python3 and chromium.
browse-test: setup
	$(SWIFT_BUILD) --product roost $(TEST_TRAITS)
	./Scripts/browse-test .build/debug/roost $(if $(SCREENSHOTS),--screenshots $(SCREENSHOTS))

# Counts instructions per operation with callgrind, and compares them with
# Tests/CostTests/instructions.json. `make costs WRITE=1` records new limits. `make costs
# BUILD=tests` counts those of the optimized build of the tests. Requires valgrind.
costs: setup
	@BUILD=$(BUILD) ./Scripts/costs $(if $(WRITE),--write)

# Builds and tests a package outside this tree, with its own backends, that depends on this
# checkout.
strangers: setup
	@./Tests/strangers

# A long run of random tests and faults, which prints its seeds:
# - OPERATIONS random operations and QUERIES random queries on every type of store
# - every state that a power cut can leave of a store that is replaced or migrated (about 50 000)
# - a hundred kills, and each failing system call
# - HISTORIES random histories of contexts for each kind and store
# - REQUESTS fetches beside unsaved changes
# - ROUNDS of ten concurrent contexts under ThreadSanitizer
# - campaigns (`make campaigns` runs only these): FILES damaged stores, COREDATA damaged Core Data stores,
#     KILLS killed commands, and LIMITS runs under limits of processes, memory and files
#
# ROOST_LOCKSTEP_SEED, ROOST_QUERY_SEED, ROOST_CRASH_SEED and ROOST_CAMPAIGN_SEED repeat a run.
# STATES limits the states of each case, and FAULTS the failing calls. ROOST_CRASH_CASES selects
# cases by a part of their names.
faults: setup
	$(SWIFT_BUILD) --build-tests --configuration release -Xswiftc -enable-testing
	ROOST_LOCKSTEP_OPERATIONS=$(OPERATIONS) ROOST_QUERY_CASES=$(QUERIES) $(SWIFT) test --configuration release \
		-Xswiftc -enable-testing --skip-build --filter 'ConformanceTests.LockStepTests/lockStep|ConformanceTests.QueryCampaignTests|ConformanceTests.FaultTests'
	ROOST_CRASH_STATES=$(STATES) ROOST_CRASH_FAULTS=$(FAULTS) ROOST_CRASH_KILLS=100 $(SWIFT) test --configuration release \
		-Xswiftc -enable-testing --skip-build --filter 'CrashTests.CrashLabTests|RoostCommandTests.InterruptionTests'
	ROOST_GRAPH_HISTORIES=$(HISTORIES) ROOST_GRAPH_REQUESTS=$(REQUESTS) $(SWIFT) test --configuration release \
		-Xswiftc -enable-testing --skip-build --filter 'RoostGraphTests.HistoryTests|RoostGraphTests.PendingFetchTests'
	ROOST_ONLY=RoostPostgreSQL $(SWIFT_BUILD) --build-tests $(TOOL_TRAITS) --scratch-path .build/only-RoostPostgreSQL
	ROOST_ONLY=RoostPostgreSQL ROOST_POSTGRES_CONTEXTS=1 ROOST_LOCKSTEP_OPERATIONS=$(OPERATIONS) ROOST_QUERY_CASES=$(QUERIES) \
		./Scripts/with-postgres $(SWIFT) test --skip-build $(TOOL_TRAITS) --scratch-path .build/only-RoostPostgreSQL \
		--filter 'RoostPostgreSQLTests.PortableProfileTests/graphCheck|RoostPostgreSQLTests.PostgreSQLRandomTests'
	ROOST_ONLY=RoostGraph $(SWIFT_BUILD) --build-tests --sanitize=thread --scratch-path .build/thread-sanitizer
	ROOST_ONLY=RoostGraph ROOST_GRAPH_ROUNDS=$(ROUNDS) $(SWIFT) test --skip-build --sanitize=thread \
		--scratch-path .build/thread-sanitizer --filter 'RoostGraphTests.RaceTests'
	$(RUN_CAMPAIGNS)

campaigns: setup
	$(SWIFT_BUILD) --build-tests --configuration release -Xswiftc -enable-testing
	$(RUN_CAMPAIGNS)

RUN_CAMPAIGNS = ROOST_CAMPAIGN_FILES=$(FILES) ROOST_CAMPAIGN_COREDATA=$(COREDATA) ROOST_CAMPAIGN_KILLS=$(KILLS) \
	ROOST_CAMPAIGN_LIMITS=$(LIMITS) ROOST_CAMPAIGN_PEOPLE=12000 $(SWIFT) test --configuration release -Xswiftc -enable-testing \
	--skip-build --filter 'CampaignTests.|RoostCoreDataTests.CoreDataCampaignTests'

# libFuzzer on the readers of predicates and of model files, ten minutes each; `make fuzz SECONDS_TO_RUN=60` is shorter, and
# `make fuzz ONLY=models` runs one of them.
fuzz: setup
	@SECONDS_TO_RUN=$(SECONDS_TO_RUN) ./Scripts/fuzz $(ONLY)

# Compares Roost with programs in C, in about ten minutes. `make bench QUICK=1` takes two minutes,
# and `make bench ONLY="sqlite/scan lmdb"` runs only these operations. A complete run is stored in
# Benchmarks/Results, the source of the numbers in README.md.
ifeq ($(QUICK)$(ONLY),)
BENCH_RESULTS = --json=Results/latest.json --markdown=Results/latest.md --svg=Results/latest.svg
endif
BENCH = cd Benchmarks && .build/release/RoostBenchmarks

bench: bench-build
	$(BENCH) $(if $(QUICK),--quick) $(BENCH_RESULTS) $(ONLY)

# Measures time per object and private memory, from few objects to LARGEST.
bench-scaling: bench-build
	$(BENCH) --scaling --largest=$(or $(LARGEST),1000000)
	$(BENCH) --memory --largest=$(or $(LARGEST),1000000)

# Compares the PostgreSQL backend with a C program that uses libpq, on the server in ROOST_POSTGRES:
#
#     ROOST_POSTGRES="$(Scripts/postgres start)" make bench-postgresql
#
# Without a server, it is skipped with a message.
POSTGRESQL_BUILD = Benchmarks/.build/postgresql
bench-postgresql: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --scratch-path $(POSTGRESQL_BUILD) --configuration release \
		--traits PostgreSQL --product RoostBenchmarks
	cd Benchmarks && .build/postgresql/release/RoostBenchmarks $(if $(QUICK),--quick) $(or $(ONLY),postgresql)

# Compares commits of 1 to 8 concurrent threads with C, on the server in ROOST_POSTGRES or on a
# temporary one that flushes to disk. Exits with 1 if Roost is slower than its limit.
bench-writers: export ROOST_POSTGRES_OPTIONS ?= -c fsync=on -c full_page_writes=on
bench-writers: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --scratch-path $(POSTGRESQL_BUILD) --configuration release \
		--traits PostgreSQL --product WriterBenchmarks
	./Scripts/with-postgres sh -c 'cd Benchmarks && .build/postgresql/release/WriterBenchmarks'

# Measures objects in contexts: nanoseconds for each operation, with its limit, if any.
# `make bench-objects ONLY="memory sqlite"` uses only these stores.
bench-objects: bench-build
	cd Benchmarks && .build/release/ObjectBenchmarks $(ONLY)

# Compares durable commits with and without a history. Exits with 1 if a ratio is above the limit.
bench-history: setup
	$(SWIFT_BUILD) --package-path Benchmarks --configuration release --product HistoryBenchmarks
	cd Benchmarks && .build/release/HistoryBenchmarks

# Compares `roost import` with the import of the sqlite3 shell. `make bench-import ROWS=1000000`
# uses a small file.
bench-import: tool
	@./Scripts/bench-import $(TOOL) $(ROWS)

bench-build: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --configuration release

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@./Scripts/lint

# Compares the public declarations with the lists in docs/api. `Scripts/api --write` writes the lists.
# Requires a build with tests.
api:
	@SWIFT=$(SWIFT) ./Scripts/api

docs: setup
	@./Scripts/docs

clean:
	rm -rf .build Benchmarks/.build
