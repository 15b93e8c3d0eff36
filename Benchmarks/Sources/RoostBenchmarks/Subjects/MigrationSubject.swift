internal import Roost

/// Migrates a whole store with tags into a new one, verified.
final class MigrationSubject: Subject {
    private let source: StoreLocation
    private let destination: StoreLocation
    private let model: ManagedObjectModel
    private let options: MigrationOptions

    init(_ source: String, _ destination: String, _ kind: MigrationKind, _ workload: Workload) throws {
        self.source = StoreLocation(type: source, path: workload.source)
        self.destination = StoreLocation(type: destination, path: workload.destination)
        model = try TrackSchema(.migrated).model
        options = try kind.options(from: TrackSchema(.tagged).model, to: model)
    }

    func open() throws {}
    func close() throws {}

    /// Counts the objects of the source, whatever becomes of them.
    func run(proving: Bool) throws -> Outcome {
        let report = try MigrationManager(registry: .standard).migrate(
            from: .location(source), to: .location(destination), model: model, options: options)
        return Outcome(unitCount: report.mappings.reduce(0) { $0 + ($1.read ?? 0) })
    }
}
