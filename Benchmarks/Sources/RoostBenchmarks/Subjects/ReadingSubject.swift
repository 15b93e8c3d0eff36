internal import Roost

/// Reads an open store through one snapshot in each round.
final class ReadingSubject: Subject {
    typealias Body = @Sendable (Reading) throws -> Outcome

    private let type: String
    private let workload: Workload
    private let body: Body
    private let schema: TrackSchema
    private var store: (any PersistentStore)?

    init(_ type: String, workload: Workload, form: TrackForm = .plain, body: @escaping Body) throws {
        self.type = type
        self.workload = workload
        self.body = body
        schema = try TrackSchema(form)
    }

    func open() throws { store = try openStore(type, workload: workload, schema: schema) }

    func run(proving: Bool) throws -> Outcome {
        guard let store else { throw BenchmarkError("The store is not open.") }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        return try body(Reading(snapshot: snapshot, schema: schema, workload: workload, isProving: proving))
    }

    func close() throws {
        try store?.close()
        store = nil
        if type == BenchmarkServer.type { try BenchmarkServer.clear() }
    }
}
