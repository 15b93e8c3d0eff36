# Two commands are all that is needed: `make demo` and `make test`. Both install what is missing first.

SWIFT ?= swift
OBJECTS ?= 100000
SEED ?= 1
OPERATIONS ?= 1000000
QUERIES ?= 1000000
# Each history runs 80 steps on three stores, three times: more than 100 000 steps in all.
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
# SwiftPM 6.3 writes the traits' flags in the order of a set, so half of all builds would recompile everything
# (https://github.com/swiftlang/swift-package-manager/issues/10525). Tests run without it: it would hide mistakes that depend on order.
SWIFT_BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
SOURCES = Package.swift Sources Plugins Conformance Tests Examples Benchmarks/Package.swift Benchmarks/Sources

.PHONY: setup demo demo-postgresql install deb tool test browse-test costs strangers faults campaigns fuzz bench bench-scaling bench-postgresql bench-writers bench-objects bench-history bench-import bench-build lint api docs clean

# The C libraries of the backends, from the system's package manager.
setup:
	@./Scripts/setup

demo: setup
	$(SWIFT_BUILD) --configuration release --product roost
	.build/release/roost demo --objects $(OBJECTS) --seed $(SEED) --directory $(DEMO_DIRECTORY)

# The same library on a PostgreSQL server of its own, which ends with the demonstration: converted there and back, queried, shown in psql.
demo-postgresql: setup
	$(SWIFT_BUILD) --configuration release --product roost --traits SQLite,LMDB,PostgreSQL
	OBJECTS=$(OBJECTS) SEED=$(SEED) DIRECTORY=$(DEMO_DIRECTORY) ./Scripts/with-postgres ./Scripts/demo-postgresql

# The program for people's machines: the Swift runtime is a part of it where that is possible.
TOOL_TRAITS ?= --traits SQLite,LMDB,PostgreSQL,Interactive
TOOL = .build/install/release/roost
tool: setup
ifeq ($(shell uname -s),Linux)
	flags=$$(SWIFT=$(SWIFT) ./Scripts/icu-data .build/install/icu.dat) && \
		eval "$(SWIFT_BUILD) --configuration release --product roost --scratch-path .build/install $(TOOL_TRAITS) --static-swift-stdlib $$flags"
else
	$(SWIFT_BUILD) --configuration release --product roost --scratch-path .build/install $(TOOL_TRAITS)
endif

# The program, its manual page and its completions below a directory: make install PREFIX=~/.local
PREFIX ?= /usr/local
install: tool
	@./Scripts/install $(TOOL) "$(PREFIX)"

# A package for Debian and Ubuntu, in .build: apt install ./.build/roost_…_amd64.deb
deb: tool
	@./Scripts/deb $(TOOL) .build

# The tests plant faults in contexts, to show that the suites of checks find them. Releases are built without this trait.
TEST_TRAITS ?= --traits SQLite,LMDB,PostgreSQL,Macros,Interactive,PlantedFaults

# Compares what each product shows with docs/api, which takes seconds, then runs all tests.
# `make test ONLY=RoostQuery` builds and runs the tests of one module, with what they need, in a build folder of its own.
ifeq ($(ONLY),)
test: setup
	$(SWIFT_BUILD) --build-tests $(TEST_TRAITS)
	@SWIFT=$(SWIFT) ./Scripts/api
	SWIFT=$(SWIFT) ./Scripts/with-postgres ./Scripts/test --skip-build --parallel $(TEST_TRAITS)
else
test: setup
	ROOST_ONLY=$(ONLY) $(SWIFT_BUILD) --build-tests $(TEST_TRAITS) --scratch-path .build/only-$(ONLY)
	ROOST_ONLY=$(ONLY) ./Scripts/with-postgres $(SWIFT) test --skip-build --parallel $(TEST_TRAITS) --scratch-path .build/only-$(ONLY)
endif

# Clicks through each view of `roost browse` in headless Chromium, and compares the page with what the command answers.
# SCREENSHOTS=directory keeps pictures. Needs python3 and chromium.
browse-test: setup
	$(SWIFT_BUILD) --product roost $(TEST_TRAITS)
	./Scripts/browse-test .build/debug/roost $(if $(SCREENSHOTS),--screenshots $(SCREENSHOTS))

# Instructions per operation, counted by callgrind and compared with Tests/CostTests/instructions.json. `make costs WRITE=1` records new
# limits. Needs valgrind.
costs: setup
	@./Scripts/costs $(if $(WRITE),--write)

# A package outside this tree with backends of its own, built and tested against this checkout.
strangers: setup
	@./Tests/strangers

# A long campaign: random operations and random queries on every type of store at once; every state that a power cut can leave of a
# store that is replaced or migrated (some 50 000), a hundred kills, and each call of the system failing. ROOST_LOCKSTEP_SEED, ROOST_QUERY_SEED
# and ROOST_CRASH_SEED repeat one; the run prints its seeds. STATES limits the states of each case, FAULTS the failing calls, and
# ROOST_CRASH_CASES is a part of the names of the cases to be run. HISTORIES random histories of contexts for each kind and store,
# REQUESTS fetches beside unsaved changes, and ROUNDS of ten contexts at once under ThreadSanitizer. Then campaigns: FILES damaged stores and COREDATA damaged ones of Core
# Data, KILLS killed commands, LIMITS runs under limits of processes, memory and files. ROOST_CAMPAIGN_SEED repeats them;
# `make campaigns` runs them alone.
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

# Roost beside programs in C, about ten minutes; `make bench QUICK=1` takes two, `make bench ONLY="sqlite/scan lmdb"` has only
# these. A whole run is kept in Benchmarks/Results, from where README.md has its numbers.
ifeq ($(QUICK)$(ONLY),)
BENCH_RESULTS = --json=Results/latest.json --markdown=Results/latest.md --svg=Results/latest.svg
endif
BENCH = cd Benchmarks && .build/release/RoostBenchmarks

bench: bench-build
	$(BENCH) $(if $(QUICK),--quick) $(BENCH_RESULTS) $(ONLY)

# Time per object and private memory, from few objects to LARGEST.
bench-scaling: bench-build
	$(BENCH) --scaling --largest=$(or $(LARGEST),1000000)
	$(BENCH) --memory --largest=$(or $(LARGEST),1000000)

# The PostgreSQL backend beside a program in C with libpq, on the server that ROOST_POSTGRES has the parameters of:
# ROOST_POSTGRES="$(Scripts/postgres start)" make bench-postgresql. Skipped visibly without a server.
POSTGRESQL_BUILD = Benchmarks/.build/postgresql
bench-postgresql: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --scratch-path $(POSTGRESQL_BUILD) --configuration release \
		--traits PostgreSQL --product RoostBenchmarks
	cd Benchmarks && .build/postgresql/release/RoostBenchmarks $(if $(QUICK),--quick) $(or $(ONLY),postgresql)

# Commits of 1 to 8 threads side by side, beside C, on that server or a throw-away one; ends with 1 below the limit.
bench-writers: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --scratch-path $(POSTGRESQL_BUILD) --configuration release \
		--traits PostgreSQL --product WriterBenchmarks
	./Scripts/with-postgres sh -c 'cd Benchmarks && .build/postgresql/release/WriterBenchmarks'

# Objects in contexts: nanoseconds for each operation, beside its limit. `make bench-objects ONLY="memory sqlite"` has these stores.
bench-objects: bench-build
	cd Benchmarks && .build/release/ObjectBenchmarks $(ONLY)

# Durable commits with and without a history, taken in turn; ends with 1 above the limit.
bench-history: setup
	$(SWIFT_BUILD) --package-path Benchmarks --configuration release --product HistoryBenchmarks
	cd Benchmarks && .build/release/HistoryBenchmarks

# `roost import` beside the import of the sqlite3 shell; `make bench-import ROWS=1000000` is a small file.
bench-import: tool
	@./Scripts/bench-import $(TOOL) $(ROWS)

bench-build: setup
	@./Scripts/setup-benchmarks
	$(SWIFT_BUILD) --package-path Benchmarks --configuration release

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)
	@./Scripts/lint

# What each product shows, compared with the lists in docs/api; `Scripts/api --write` writes them. Needs a build with tests.
api:
	@SWIFT=$(SWIFT) ./Scripts/api

docs: setup
	@./Scripts/docs

clean:
	rm -rf .build Benchmarks/.build
