import Roost
import RoostConformance
import RoostCore
import RoostQuery
import Testing

@Suite("Fetches in cancelled tasks")
struct CancellationTests {
    private static let count = 10_000

    private static func model() throws -> ManagedObjectModel {
        var node = EntityDescription(
            "Node",
            attributes: [
                AttributeDescription("number", type: .integer64), AttributeDescription("name", type: .string),
                AttributeDescription("weight", type: .double),
            ],
            relationships: [
                .toOne("parent", to: "Node", inverse: "children"), .toMany("children", to: "Node", inverse: "parent"),
            ])
        node.fetchIndexes = [FetchIndexDescription("byNumber", on: "number")]
        return try ManagedObjectModel(entities: [node])
    }

    private static func fill(_ store: any PersistentStore) throws {
        var changes = ChangeSet(model: store.model)
        for key in 1...Int64(count) {
            try changes.insert(
                ObjectID("Node", key: key),
                values: [
                    "number": .int(key), "name": .string("n\(key % 100)"), "weight": .double(1),
                    "parent": .objectID(ObjectID("Node", key: key / 2 + 1)),
                ])
        }
        _ = try store.commit(changes)
    }

    /// Runs `body` in a task, with a closure that cancels the task.
    private static func inTask<Result: Sendable>(
        _ body: @escaping @Sendable (_ cancel: @escaping () -> Void) throws -> Result
    ) async throws -> Result {
        try await Task { try body { withUnsafeCurrentTask { $0?.cancel() } } }.value
    }

    private static func code(_ body: () throws -> Void) throws -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch let error as StoreError {
            return error.code
        }
    }

    private static let requests: [(String, @Sendable (any StoreSnapshot) throws -> Void)] = [
        ("scan", { try read($0, where: "weight > 2") }), ("everything", { try read($0, where: nil) }),
        ("index", { try read($0, where: "number > 5") }),
        ("relationship", { try read($0, where: "parent.name == 'x'") }),
        ("many", { try read($0, where: "ANY children.children.children.name == 'x'") }),
        ("function", { try read($0, where: "length(name) > 10") }),
        ("order", { try read($0, where: nil, sortedBy: [.init("name")]) }),
        (
            "folded order",
            { try read($0, where: "length(name) > 1", sortedBy: [.init("name", options: .caseInsensitive)]) }
        ),
        ("count", { _ = try $0.count(FetchRequest("Node")) }),
        ("count of a scan", { _ = try $0.count(FetchRequest("Node", where: .greater("weight", than: .double(0)))) }),
        ("count by index", { _ = try $0.count(FetchRequest("Node", where: .greater("number", than: .int(0)))) }),
        ("IDs", { _ = try $0.objectIDs(FetchRequest("Node")) }),
        (
            "rows",
            { snapshot in
                var request = RowRequest(FetchRequest("Node"))
                request.propertiesToFetch = ["@sum.weight", "@max.number"]
                var batch = RowBatch()
                _ = try snapshot.rows(request).next(into: &batch)
            }
        ),
        (
            "update",
            { _ = try $0.prepare(BatchUpdateRequest("Node", set: ["name": .constant("x")])) }
        ),
    ]

    private static func read(
        _ snapshot: any StoreSnapshot, where predicate: String?, sortedBy order: [FetchRequest.SortDescriptor] = []
    ) throws {
        let request = FetchRequest(
            "Node", where: try predicate.map { try FetchRequest.Predicate($0, for: "Node", model: snapshot.model) },
            sortedBy: order)
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch) {}
    }

    @Test(
        "requests in a cancelled task fail with `cancelled`, and later requests succeed",
        arguments: StoreFixture.writable)
    func cancelledBeforeRequests(fixture: StoreFixture) async throws {
        let workbench = try Workbench(fixture)
        defer { workbench.discard() }
        let store = try workbench.create(try Self.model())
        try Self.fill(store)
        let codes = try await Self.inTask { cancel in
            cancel()
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            return try Self.requests.map { (_, run) in try Self.code { try run(snapshot) } }
        }
        for (code, (name, _)) in zip(codes, Self.requests) { #expect(code == .cancelled, "\(name)") }
        let others = try await Self.inTask { _ in
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            return try Self.requests.map { (_, run) in try Self.code { try run(snapshot) } }
        }
        #expect(others.allSatisfy { $0 == nil })
    }

    @Test(
        "a fetch cancelled between batches fails with `cancelled` and is then at its end",
        arguments: StoreFixture.writable)
    func cancelledBetweenBatches(fixture: StoreFixture) async throws {
        let workbench = try Workbench(fixture)
        defer { workbench.discard() }
        let store = try workbench.create(try Self.model())
        try Self.fill(store)
        try await Self.inTask { cancel in
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let cursor = try snapshot.fetch(FetchRequest("Node", where: .less("weight", than: .double(2))))
            var batch = RecordBatch(model: store.model)
            #expect(try cursor.next(into: &batch) && batch.count < Self.count)
            cancel()
            var code: StoreError.Code?
            // A batch that was found before the cancellation may come first.
            for _ in 0..<2 where code == nil { code = try Self.code { _ = try cursor.next(into: &batch) } }
            #expect(code == .cancelled)
            #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        }
    }
    @Test("a fetch cancelled before it sorts fails with `cancelled` and is then at its end", arguments: [false, true])
    func cancelledBeforeSorting(isFolded: Bool) async throws {
        let workbench = try Workbench(try #require(StoreFixture.writable.first))
        defer { workbench.discard() }
        let store = try workbench.create(try Self.model())
        try Self.fill(store)
        let order = FetchRequest.SortDescriptor("name", options: isFolded ? .caseInsensitive : [])
        try await Self.inTask { cancel in
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            var batch = RecordBatch(model: store.model)
            func fetch(_ request: FetchRequest, isCancelled: Bool) throws -> ScanningFetch {
                let source = WatchedCursor(try snapshot.records(of: "Node", after: nil)) { if isCancelled { cancel() } }
                return try ScanningFetch(request, model: store.model, source: source)
            }
            let request = FetchRequest("Node", sortedBy: [order])
            #expect(try fetch(request, isCancelled: false).next(into: &batch))
            let cursor = try fetch(request, isCancelled: true)
            #expect(try Self.code { _ = try cursor.next(into: &batch) } == .cancelled)
            #expect(try !cursor.next(into: &batch) && batch.isEmpty)
        }
    }
}

/// A cursor that forwards the records of another cursor, and calls a closure at the end.
private final class WatchedCursor: RecordCursor {
    private let base: any RecordCursor
    private let onEnd: () -> Void

    init(_ base: any RecordCursor, onEnd: @escaping () -> Void) { (self.base, self.onEnd) = (base, onEnd) }

    func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        if try base.next(into: &batch) { return true }
        onEnd()
        return false
    }
}
