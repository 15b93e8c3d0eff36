internal import Roost

/// Creates a new store from objects in memory, by a bulk load or by commits.
///
/// The workload sets the size of commits.
final class LoadingSubject: Subject {
    private let type: String
    private let workload: Workload
    private let schema: TrackSchema
    private var library: TrackLibrary?
    private var made: (any PersistentStore)?

    init(_ type: String, workload: Workload, form: TrackForm = .plain) throws {
        self.type = type
        self.workload = workload
        schema = try TrackSchema(form)
    }

    func open() throws { library = TrackLibrary(trackCount: workload.trackCount) }

    func close() throws {
        library = nil
        if type == BenchmarkServer.type { try BenchmarkServer.clear() }
    }

    /// Loads into a hidden store and then renames it, as a conversion does.
    ///
    /// A store in memory is loaded directly. If the workload has a batch size, commits objects
    /// instead.
    func run(proving: Bool) throws -> Outcome {
        guard let library else { throw BenchmarkError("the objects to load are missing") }
        if type == BenchmarkServer.type {
            return Outcome(unitCount: try BenchmarkServer.load(library, schema: schema).digest.objectCount)
        }
        let storeType = try StoreRegistry.standard.type(named: type)
        if workload.destination.isEmpty {
            let store = try storeType.create(
                StoreLocation(type: type, path: ""), model: schema.model, options: StoreOptions())
            made = store
            return Outcome(unitCount: try loadLibrary(library, into: store, schema: schema).digest.objectCount)
        }
        if workload.batchSize > 0 { return try commit(storeType, library: library) }
        let hidden = StoreLocation(type: type, path: workload.destination + ".new")
        let store = try storeType.create(
            hidden, model: schema.model, options: StoreOptions().with { $0.isUnpublished = true })
        let tally = try loadLibrary(library, into: store, schema: schema)
        try store.close()
        try storeType.replace(StoreLocation(type: type, path: workload.destination), with: hidden, overwriting: false)
        return Outcome(unitCount: tally.digest.objectCount)
    }

    /// Commits to a store that stays open, as in a program.
    private func commit(_ storeType: any PersistentStoreType, library: TrackLibrary) throws -> Outcome {
        let store = try storeType.create(
            StoreLocation(type: type, path: workload.destination), model: schema.model, options: StoreOptions())
        try library.commit(to: store, commitCount: workload.batchSize, schema: schema)
        let tally = try store.snapshot().recordedTally()
        try store.close()
        return Outcome(unitCount: tally?.digest.objectCount ?? 0)
    }

    func madeChecksum() throws -> UInt64? {
        if type == BenchmarkServer.type {
            made = try StoreRegistry.standard.open(BenchmarkServer.location(), options: StoreOptions(isReadOnly: true))
        }
        return try made.map { try Proof.checksum(of: $0) }
    }

    func clean() throws {
        try made?.close()
        made = nil
    }
}
