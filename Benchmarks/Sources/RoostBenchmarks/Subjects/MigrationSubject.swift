internal import Roost

/// Migrates a whole store with tags into a new one, verified.
final class MigrationSubject: Subject {
    private let source: StoreLocation
    private let destination: StoreLocation
    private let model: ManagedObjectModel
    private let options: MigrationOptions
    private var objectCount = 0

    init(from source: String, to destination: String, kind: MigrationKind, workload: Workload) throws {
        self.source = StoreLocation(type: source, path: workload.source)
        self.destination = StoreLocation(type: destination, path: workload.destination)
        model = try TrackSchema(.migrated).model
        options = try kind.options(from: TrackSchema(.tagged).model, to: model)
    }

    /// Counts the objects of the source.
    func open() throws {
        let store = try Store.open(source, ifMissing: .fail)
        objectCount = try store.read { view in
            try view.model.entities.reduce(0) { count, entity in
                try count + view.count(FetchRequest(entity.name).with { $0.includesSubentities = false })
            }
        }
        try store.close()
    }

    func close() throws {}

    func run(proving: Bool) throws -> Outcome {
        _ = try MigrationManager(registry: .standard).migrate(
            from: .location(source), to: .location(destination), model: model, options: options)
        return Outcome(unitCount: objectCount)
    }
}
