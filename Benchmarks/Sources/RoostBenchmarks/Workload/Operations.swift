enum Operations {
    /// All operations, in the order in which they run and are printed.
    static let all: [Operation] =
        ["sqlite", "lmdb", "memory"].flatMap { reading($0) + writing($0) + store($0) } + loading + loadingOtherwise
        + json
        + conversions + migrations + server

    /// The number of tracks of most operations in a full run.
    private static let full = 1_000_000
    /// The number of tracks of slow operations, and of pairs other than SQLite and LMDB.
    private static let reduced = 100_000

    /// The targets of operations, as multiples of the baseline's time.
    private static let targets: [String: Double] = [
        "sqlite/scan": 1.3, "lmdb/scan": 1.3, "lmdb/one-field-filter": 1.4,
        "sqlite/point-read": 1.3, "lmdb/point-read": 1.4,
        "sqlite/index-lookup": 1.3, "lmdb/index-lookup": 1.5,
        "sqlite/filter-scan": 1.2, "sqlite/sort-limit": 1.2,
        "memory/filter-scan": 1.5, "memory/sort-limit": 0.2,
        "sqlite/update": 1.4, "lmdb/update": 1.6,
        "sqlite/transactions-1": 1.15, "sqlite/transactions-10": 1.15,
        "sqlite/transactions-100": 1.15, "sqlite/transactions-1000": 1.15,
        "lmdb/transactions-1": 1.15, "lmdb/transactions-10": 1.15,
        "lmdb/transactions-100": 1.15, "lmdb/transactions-1000": 1.15,
        "sqlite/load": 0.8, "sqlite/load-commits": 1.2, "lmdb/load": 1.6, "memory/load": 3,
        "json/open": 1.5, "json/write": 1.8,
        "sqlite-lmdb/unverified": 1.0, "lmdb-sqlite/unverified": 1.0, "sqlite-sqlite/unverified": 0.95,
        "sqlite-lmdb/verified": 1.5, "lmdb-sqlite/verified": 1.5, "sqlite-sqlite/verified": 1.5,
        "sqlite-json/unverified": 1.5, "json-sqlite/unverified": 1.0,
        "postgresql/load": 1.2, "postgresql/from-sqlite": 1.3, "postgresql/scan": 1.2, "postgresql/point-read": 1.15,
        "postgresql/transactions-1": 1.2, "postgresql/transactions-100": 1.2,
        // 60 % of the conversion's speed.
        "sqlite-lmdb/migrate-policies": 1.667, "lmdb-sqlite/migrate-policies": 1.667,
        "sqlite-sqlite/migrate-policies": 1.667, "lmdb-lmdb/migrate-policies": 1.667,
    ]

    /// The maximum private memory in bytes of a conversion, and of a migration with policies, if
    /// both stores are SQLite or LMDB.
    private static let memoryTargets = (conversion: 64 << 20, migration: 96 << 20)

    // MARK: Reading

    private static func reading(_ type: String) -> [Operation] {
        // An open JSON store has its content in memory, so it has the baselines of a memory store.
        let held = type == "json" ? "memory" : type
        func operation(
            _ name: String, title: String, repetitions: Int = 0, baseline: String? = nil,
            body: @escaping ReadingSubject.Body
        ) -> Operation {
            make(
                "\(type)/\(name)", title: title, source: type == "memory" ? .memory : .shared(type),
                tracks: type == "json" ? reduced : full, repetitions: repetitions,
                baseline: "\(held)-\(baseline ?? name)"
            ) { try ReadingSubject(type, workload: $0, body: body) }
        }
        return [
            operation("scan", title: "scan into batches") { try $0.scan() },
            operation("scan-fields", title: "scan, every field read", baseline: "scan") { try $0.scanFields() },
            operation("scan-values", title: "scan, every value decoded", baseline: "scan") { try $0.scanValues() },
            operation("point-read", title: "point read, record", repetitions: 200_000) { try $0.pointReads() },
            operation("point-read-value", title: "point read, value", repetitions: 200_000, baseline: "point-read") {
                try $0.pointReadValues()
            },
            operation(
                "point-read-many", title: "point read, 1 000 a call", repetitions: 200_000, baseline: "point-read"
            ) {
                try $0.pointReadsTogether()
            },
            operation("index-lookup", title: "index lookup", repetitions: 10_000) { try $0.indexLookups() },
            operation("links-to-many", title: "links, to-many end", repetitions: 10_000) { try $0.linksToMany() },
            operation(
                "links-to-many-together", title: "links, to-many end, 1 000 objects a call", repetitions: 10_000,
                baseline: "links-to-many"
            ) { try $0.linksToManyTogether() },
            operation("links-to-one", title: "links, to-one end", repetitions: 100_000) { try $0.linksToOne() },
            operation("filter-scan", title: "filter scan, two fields") { try $0.filterScan() },
            operation("one-field-filter", title: "filter scan, one field") { try $0.oneFieldFilter() },
            operation("sort-limit", title: "sort with limit 100") { try $0.sortWithLimit() },
            operation("count", title: "count with predicate") { try $0.count() },
            operation("contains-folded", title: "CONTAINS[cd]") { try $0.containsFolded() },
            operation("sum", title: "sum of a property") { try $0.sum() },
            operation("to-one-path", title: "predicate through to-one") { try $0.toOnePath() },
            operation("any-to-many", title: "ANY through to-many") { try $0.anyToMany() },
            operation("subquery", title: "SUBQUERY") { try $0.subquery() },
        ] + (type == "sqlite" || type == "lmdb" ? [indexRange(type)] : [])
    }

    private static func indexRange(_ type: String) -> Operation {
        make(
            "\(type)/index-range", title: "range on an index", source: .indexed(type), repetitions: 100,
            baseline: "\(type)-index-range"
        ) { try ReadingSubject(type, workload: $0, form: .indexed) { try $0.indexRanges() } }
    }

    // MARK: Writing

    private static func writing(_ type: String) -> [Operation] {
        let source: Operation.Source = type == "memory" ? .anew : .copied(type)
        var operations = [
            make(
                "\(type)/update", title: "update by ID, one transaction", source: source, repetitions: 200_000,
                baseline: "\(type)-update"
            ) { try WritingSubject(type, workload: $0, change: .update) },
            make(
                "\(type)/delete", title: "delete by ID, one transaction", source: source, repetitions: 50_000,
                baseline: "\(type)-delete"
            ) { try WritingSubject(type, workload: $0, change: .delete) },
        ]
        if type != "memory" {
            operations += durableTransactions(type, tracks: full)
        }
        return operations
    }

    /// Returns the operations through `Store`, as programs use it.
    private static func store(_ type: String) -> [Operation] {
        func reading(_ name: String, title: String, work: StoreSubject.Work) -> Operation {
            make(
                "\(type)/store-\(name)", title: title, source: type == "memory" ? .memory : .shared(type),
                baseline: "\(type)-scan"
            ) { try StoreSubject(type, workload: $0, work: work) }
        }
        func writing(_ name: String, title: String, work: StoreSubject.Work) -> Operation {
            make(
                "\(type)/store-\(name)", title: title, unit: .transaction, source: .copied(type), tracks: reduced,
                repetitions: 30, batch: 1000, baseline: "\(type)-transactions"
            ) { try StoreSubject(type, workload: $0, work: work) }
        }
        let reads = [
            reading("records", title: "Store, every object as a record", work: .records),
            reading("structs", title: "Store, every object as a struct", work: .structs),
        ]
        guard type != "memory" else { return reads }
        return reads + [
            writing("rows", title: "Store, insert of 1 000 rows", work: .rows(isRuled: false)),
            writing("rows-ruled", title: "Store, insert of 1 000 rows with rules", work: .rows(isRuled: true)),
            writing("encoded", title: "Store, insert of 1 000 structs", work: .encoded),
        ]
    }

    private static func durableTransactions(_ type: String, tracks: Int) -> [Operation] {
        [(1, 300), (10, 200), (100, 100), (1000, 30)]
            .map { transactions(type, objects: $0, repetitions: $1, tracks: tracks) }
    }

    private static func transactions(_ type: String, objects: Int, repetitions: Int, tracks: Int) -> Operation {
        make(
            "\(type)/transactions-\(objects)",
            title: objects == 1
                ? "durable transaction of 1 object" : "durable transaction of \(grouped(objects)) objects",
            unit: .transaction, source: .copied(type), tracks: tracks, repetitions: repetitions, batch: objects,
            baseline: "\(type)-transactions"
        ) { try WritingSubject(type, workload: $0, change: .insert) }
    }

    // MARK: Whole stores

    private static let loading: [Operation] =
        ["sqlite", "lmdb", "json", "memory"].map { type in
            make(
                "\(type)/load", title: "bulk load into a new store", source: .none, makes: type,
                tracks: type == "json" ? reduced : full, baseline: "\(type)-load"
            ) { try LoadingSubject(type, workload: $0) }
        }

    private static let loadingOtherwise: [Operation] =
        ["sqlite", "lmdb"].flatMap { type in
            [
                make(
                    "\(type)/load-commits", title: "bulk load through commits of 10 000", source: .none, makes: type,
                    tracks: 200_000, batch: 10_000, baseline: "\(type)-load"
                ) { try LoadingSubject(type, workload: $0) },
                make(
                    "\(type)/index-build", title: "index build, album and title", source: .anew, makes: type,
                    baseline: "\(type)-index-build"
                ) { try IndexingSubject(type, workload: $0) },
            ]
        }

    private static let json: [Operation] =
        [
            make(
                "json/open", title: "document read", source: .shared("json"), tracks: reduced,
                baseline: "json-to-memory"
            ) { try OpeningSubject("json", workload: $0) },
            make(
                "json/write", title: "document written", source: .memory, makes: "json", tracks: reduced,
                baseline: "memory-to-json"
            ) { try ConversionSubject(from: "memory", to: "json", verifies: false, workload: $0) },
        ] + durableTransactions("json", tracks: reduced) + reading("json")

    private static let conversions: [Operation] =
        ["sqlite", "lmdb", "json", "memory", "coredata"].flatMap { source in
            ["sqlite", "lmdb", "json", "memory"].flatMap { destination in
                [false, true].map { conversion(from: source, to: destination, verifies: $0) }
            }
        }

    private static func conversion(from source: String, to destination: String, verifies: Bool) -> Operation {
        let isBinary = ["sqlite", "lmdb"].contains(source) && ["sqlite", "lmdb"].contains(destination)
        return make(
            "\(source)-\(destination)/\(verifies ? "verified" : "unverified")",
            title: "\(source) → \(destination), \(verifies ? "verified" : "unverified")",
            source: source == "memory" ? .memory : .shared(source), makes: destination,
            tracks: isBinary ? full : reduced, baseline: "\(source)-to-\(destination)",
            memoryTarget: isBinary ? memoryTargets.conversion : nil
        ) { try ConversionSubject(from: source, to: destination, verifies: verifies, workload: $0) }
    }

    // MARK: On a server

    /// The operations on a server; none if the program was built without the trait.
    private static let server: [Operation] = {
        #if PostgreSQL
            return onServer
        #else
            return []
        #endif
    }()

    private static var onServer: [Operation] {
        let (type, tracks) = (BenchmarkServer.type, 200_000)
        func reading(
            _ name: String, title: String, repetitions: Int = 0, baseline: String? = nil,
            body: @escaping ReadingSubject.Body
        ) -> Operation {
            make(
                "\(type)/\(name)", title: title, source: .server, tracks: tracks, repetitions: repetitions,
                baseline: "\(type)-\(baseline ?? name)"
            ) { try ReadingSubject(type, workload: $0, body: body) }
        }
        func transactions(objects: Int, repetitions: Int, pipelined: Bool) -> Operation {
            let suffix = pipelined ? "-pipelined" : ""
            return make(
                "\(type)/transactions-\(objects)\(suffix)",
                title: "durable transaction of \(objects)\(pipelined ? ", C in one message" : "")", unit: .transaction,
                source: .server, tracks: tracks, repetitions: repetitions, batch: objects,
                baseline: "\(type)-transactions\(suffix)"
            ) { try WritingSubject(type, workload: $0, change: .insert) }
        }
        return [
            make(
                "\(type)/load", title: "bulk load into a new store", source: .none, makes: type, tracks: tracks,
                baseline: "\(type)-load"
            ) { try LoadingSubject(type, workload: $0) },
            make(
                "\(type)/from-sqlite", title: "sqlite → postgresql, verified", source: .shared("sqlite"), makes: type,
                tracks: tracks, baseline: "\(type)-from-sqlite"
            ) { try ConversionSubject(from: "sqlite", to: type, verifies: true, workload: $0) },
            reading("scan", title: "scan into batches") { try $0.scan() },
            reading("scan-fields", title: "scan, every field read", baseline: "scan") { try $0.scanFields() },
            reading("scan-unordered", title: "scan, C in no order") { try $0.scan() },
            reading("point-read", title: "point read, record", repetitions: 20_000) { try $0.pointReads() },
            transactions(objects: 1, repetitions: 1000, pipelined: false),
            transactions(objects: 100, repetitions: 200, pipelined: false),
            transactions(objects: 1, repetitions: 1000, pipelined: true),
            transactions(objects: 100, repetitions: 200, pipelined: true),
        ]
    }

    // MARK: Migrations

    private static let migrations: [Operation] =
        ["sqlite", "lmdb"].flatMap { source in
            ["sqlite", "lmdb"].flatMap { destination in
                MigrationKind.allCases.map { migration(from: source, to: destination, kind: $0) }
            }
        }

    private static func migration(from source: String, to destination: String, kind: MigrationKind) -> Operation {
        let name = "\(source)-\(destination)/migrate-\(kind.rawValue)"
        // A million objects with five links each take long, so only migrations with policies
        // between different types use them.
        let isWhole = kind == .policies && source != destination
        return Operation(
            name: name, title: "\(source) → \(destination), \(kind.title)", unit: .object, source: .tagged(source),
            madeType: destination, trackCount: isWhole ? full : reduced, repetitions: 0, batchSize: 0,
            baseline: .conversion, target: targets[name],
            memoryTarget: kind == .policies ? memoryTargets.migration : nil, migration: kind
        ) { try MigrationSubject(from: source, to: destination, kind: kind, workload: $0) }
    }

    private static func make(
        _ name: String, title: String, unit: Operation.Unit = .object, source: Operation.Source,
        makes: String? = nil, tracks: Int = full, repetitions: Int = 0, batch: Int = 0, baseline: String,
        memoryTarget: Int? = nil, _ makeSubject: @escaping @Sendable (Workload) throws -> any Subject
    ) -> Operation {
        Operation(
            name: name, title: title, unit: unit, source: source, madeType: makes, trackCount: tracks,
            repetitions: repetitions, batchSize: batch, baseline: .c(baseline), target: targets[name],
            memoryTarget: memoryTarget, migration: nil, makeSubject: makeSubject)
    }
}
