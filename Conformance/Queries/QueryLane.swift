internal import Foundation
internal import RoostCore
internal import RoostQuery

/// Two stores of one type with the objects of a world: one with indexes, and one without.
struct QueryLane {
    let fixture: StoreFixture
    private let bench: Workbench
    private let indexed: any StoreSnapshot
    private let plain: any StoreSnapshot

    init(_ fixture: StoreFixture, world: QueryWorld) throws {
        self.fixture = fixture
        bench = try Workbench(fixture)
        let indexed: any StoreSnapshot
        do {
            indexed = try Self.snapshot(bench, name: "indexed", world: world, model: world.model)
        } catch {
            bench.discard()
            throw error
        }
        self.indexed = indexed
        do {
            plain = try Self.snapshot(bench, name: "plain", world: world, model: world.plainModel)
        } catch {
            indexed.close()
            bench.discard()
            throw error
        }
    }

    /// Returns a snapshot of a new store with the world's objects.
    private static func snapshot(
        _ bench: Workbench, name: String, world: QueryWorld, model: ManagedObjectModel
    ) throws -> any StoreSnapshot {
        let store = try bench.create(model, name: name)
        _ = try store.commit(try world.changes(for: model))
        return try store.snapshot()
    }

    func close() {
        indexed.close()
        plain.close()
        bench.discard()
    }

    /// A difference from the expected answer.
    struct Difference: Error {
        /// The subject of the comparison, which differs between requests only in numbers.
        let subject: String
        let expected: String
        let actual: String
    }

    /// A store's answer to a request: keys, rows, or the code of an error.
    enum Answer: Equatable, CustomStringConvertible {
        case keys([Int64])
        case rows([[Value]])
        case refusal(StoreError.Code, String)

        static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.keys(let a), .keys(let b)): a == b
            case (.rows(let a), .rows(let b)):
                a.count == b.count && zip(a, b).allSatisfy { PlainRows.areSame($0, $1) }
            case (.refusal(let a, _), .refusal(let b, _)): a == b
            default: false
            }
        }

        var description: String {
            switch self {
            case .keys(let keys): "\(keys)"
            case .rows(let rows): "\(rows)"
            case .refusal(let code, let message): "\(code): \(message)"
            }
        }
    }

    func answer(_ request: RowRequest) throws -> Answer { try Self.answer(request, snapshot: indexed) }

    private static func answer(_ request: RowRequest, snapshot: any StoreSnapshot) throws -> Answer {
        do throws(StoreError) {
            guard !request.propertiesToFetch.isEmpty else { return .keys(try snapshot.keys(request.fetchRequest)) }
            let cursor = try snapshot.rows(request)
            var rows: [[Value]] = []
            var batch = RowBatch()
            while try cursor.next(into: &batch) {
                for row in 0..<batch.count { rows.append(batch.columns.indices.map { batch[row, $0] }) }
            }
            return .rows(rows)
        } catch {
            return .refusal(error.code, error.message)
        }
    }

    /// Returns the keys from a request for IDs, or the refusal.
    private static func ids(_ request: RowRequest, snapshot: any StoreSnapshot) -> Answer {
        do throws(StoreError) {
            return .keys(try snapshot.objectIDs(request.fetchRequest).map(\.key))
        } catch {
            return .refusal(error.code, error.message)
        }
    }

    private func expect(_ subject: String, _ actual: Answer, _ expected: Answer) throws {
        guard actual != expected else { return }
        throw Difference(subject: subject, expected: "\(expected)", actual: "\(actual)")
    }

    /// Compares the answer and, if `inEveryWay`, the answer without indexes, the count and the IDs.
    func compare(_ request: RowRequest, with expected: Answer, inEveryWay: Bool) throws {
        try expect("the answer", try answer(request), expected)
        guard inEveryWay else { return }
        try expect("the answer without indexes", try Self.answer(request, snapshot: plain), expected)
        if case .rows = expected { return }
        let count: Answer
        do throws(StoreError) {
            count = .keys(Array(repeating: 0, count: try indexed.count(request.fetchRequest)))
        } catch {
            count = .refusal(error.code, error.message)
        }
        if case .keys(let keys) = expected {
            try expect("the count", count, .keys(keys.map { _ in 0 }))
        } else {
            try expect("the count", count, expected)
        }
        try expect("the IDs", Self.ids(request, snapshot: indexed), expected)
        try expect("the IDs without indexes", Self.ids(request, snapshot: plain), expected)
    }

    func compareRelated(_ request: RowRequest, salt: UInt64) throws {
        var all = request
        (all.fetchLimit, all.fetchOffset) = (nil, nil)
        guard case .keys(let whole) = try answer(all) else { return }
        var random = SeededGenerator(seed: salt)

        var window = all
        (window.fetchLimit, window.fetchOffset) = (random.below(8), random.below(8))
        try expect(
            "the window \(window.fetchOffset ?? 0), \(window.fetchLimit ?? 0)", try answer(window),
            .keys(Array(whole.dropFirst(window.fetchOffset ?? 0).prefix(window.fetchLimit ?? 0))))

        guard let predicate = request.predicate else { return }
        var everything = all
        everything.predicate = nil
        guard case .keys(let every) = try answer(everything) else { return }
        var opposite = all
        opposite.predicate = .not(predicate)
        let chosen = Set(whole)
        try expect("the opposite", try answer(opposite), .keys(every.filter { !chosen.contains($0) }))

        guard let id = every.randomElement(using: &random) else { return }
        var fewer = all
        let some = FetchRequest.Expression.aggregate(
            every.filter { $0 % 3 == id % 3 }.map { .constant(.objectID(ObjectID(request.entity, key: $0))) })
        fewer.predicate = .and([predicate, .comparison(.init(left: .evaluatedObject, operator: .isIn, right: some))])
        try expect("a part", try answer(fewer), .keys(whole.filter { $0 % 3 == id % 3 }))

        try compareText(predicate, request: request, whole: .keys(whole))
    }

    /// Requires that a predicate gives the same answer and text after it is printed and read again.
    private func compareText(
        _ predicate: FetchRequest.Predicate, request: RowRequest, whole: Answer
    ) throws {
        let text: String
        let again: String
        var reread = request
        (reread.fetchLimit, reread.fetchOffset) = (nil, nil)
        do throws(StoreError) {
            text = try predicate.format(for: request.entity, model: indexed.model)
            let read = try FetchRequest.Predicate(text, for: request.entity, model: indexed.model)
            again = try read.format(for: request.entity, model: indexed.model)
            reread.predicate = read
        } catch {
            throw Difference(subject: "the text", expected: "a text that can be read", actual: "\(error)")
        }
        try expect("the answer to the text", try answer(reread), whole)
        guard text == again else { throw Difference(subject: "the text", expected: text, actual: again) }
    }
}
