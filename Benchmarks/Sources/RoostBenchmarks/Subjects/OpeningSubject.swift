internal import Roost

/// Opens a store, which for some types means reading all of it.
final class OpeningSubject: Subject {
    private let type: String
    private let workload: Workload
    private let schema: TrackSchema
    private var store: (any PersistentStore)?

    init(_ type: String, workload: Workload) throws {
        self.type = type
        self.workload = workload
        schema = try TrackSchema()
    }

    func open() throws {}
    func close() throws {}

    func run(proving: Bool) throws -> Outcome {
        let store = try StoreRegistry.standard.open(
            StoreLocation(type: type, path: workload.source),
            options: StoreOptions(isReadOnly: true, model: schema.model))
        self.store = store
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let count = try snapshot.recordedTally()?.digest.objectCount ?? 0
        return Outcome(unitCount: count)
    }

    func clean() throws {
        try store?.close()
        store = nil
    }
}
