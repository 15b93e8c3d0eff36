internal import Roost

/// Converts a whole store into a new one.
final class ConversionSubject: Subject {
    private let source: String
    private let destination: String
    private let verifies: Bool
    private let workload: Workload
    private let schema: TrackSchema
    private var openSource: (any PersistentStore)?
    private var made: (any PersistentStore)?

    init(from source: String, to destination: String, verifies: Bool, workload: Workload) throws {
        self.source = source
        self.destination = destination
        self.verifies = verifies
        self.workload = workload
        schema = try TrackSchema()
    }

    /// Creates the source if it is a store in memory.
    ///
    /// A conversion opens other sources itself.
    func open() throws {
        if workload.source.isEmpty { openSource = try openStore(source, workload: workload, schema: schema) }
    }

    func close() throws {
        try openSource?.close()
        openSource = nil
        if destination == BenchmarkServer.type { try BenchmarkServer.clear() }
    }

    func run(proving: Bool) throws -> Outcome {
        let from: ConversionEndpoint =
            openSource.map { .store($0) } ?? .location(StoreLocation(type: source, path: workload.source))
        let to: ConversionEndpoint
        if destination == BenchmarkServer.type {
            to = .location(try BenchmarkServer.location())
        } else if workload.destination.isEmpty {
            let store = try StoreRegistry.standard.create(
                StoreLocation(type: destination, path: ""), model: schema.model)
            made = store
            to = .store(store)
        } else {
            to = .location(StoreLocation(type: destination, path: workload.destination))
        }
        var options = ConversionOptions().with {
            $0.verifies = verifies
            // Each round replaces the store of the previous round, as in C.
            $0.overwrites = destination == BenchmarkServer.type
        }
        // The Core Data fixture contains no model.
        if source == "coredata" { options.sourceModel = schema.model }
        let report = try MigrationManager(registry: .standard).convert(from: from, to: to, options: options)
        return Outcome(unitCount: report.objects)
    }

    func madeChecksum() throws -> UInt64? {
        if destination == BenchmarkServer.type {
            made = try StoreRegistry.standard.open(BenchmarkServer.location(), options: StoreOptions(isReadOnly: true))
        }
        return try made.map { try Proof.checksum(of: $0) }
    }

    func clean() throws {
        try made?.close()
        made = nil
    }
}
