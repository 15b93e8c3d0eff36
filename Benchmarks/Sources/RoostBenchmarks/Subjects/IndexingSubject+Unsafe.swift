internal import Roost
import RoostCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Finishes a load whose rows are written: builds the indexes over album and title and makes
/// everything durable.
final class IndexingSubject: Subject {
    private let type: String
    private let workload: Workload
    private let schema: TrackSchema
    private var store: (any PersistentStore)?
    private var loader: (any BulkLoader)?

    init(_ type: String, workload: Workload) throws {
        self.type = type
        self.workload = workload
        schema = try TrackSchema(.indexed)
    }

    func open() throws {
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: workload.destination), model: schema.model,
            options: StoreOptions().with { $0.isUnpublished = true })
        let loader = try store.bulkLoader(BulkLoadOptions())
        self.store = store
        self.loader = loader
        try TrackLibrary(trackCount: workload.trackCount).append(to: loader, schema: schema)
        // Flushes the rows first, because writing them is not measured.
        sync()
    }

    func run(proving: Bool) throws -> Outcome {
        guard let loader else { throw BenchmarkError("the load to finish is missing") }
        self.loader = nil
        _ = try loader.finish()
        return Outcome(unitCount: workload.trackCount)
    }

    func close() throws {
        loader?.abandon()
        loader = nil
        try store?.close()
        store = nil
    }
}
