import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostStores

/// The costs of a `Store`, and of the same work with its `PersistentStore`.
struct DoorCosts {
    private let typeName: String
    private let directory: URL
    private static let rowCount = 1_000

    init(_ typeName: String, in directory: URL) {
        self.typeName = typeName
        self.directory = directory
    }

    func run() throws {
        let graph = try SampleGraph(seed: 1, objectCount: 5_000)
        let read = try loaded("read", with: graph)
        try reading(read)
        try read.close()
        try inserting(graph)
        try repeating()
        let ruled = try create("ruled", model: try Self.ruledModel())
        try followingRules(ruled)
        try ruled.close()
    }

    private func create(_ name: String, model: ManagedObjectModel) throws -> Store {
        let type = try StoreRegistry.standard.type(named: typeName)
        let location = StoreLocation(type: typeName, path: directory.appendingPathComponent(name).path)
        return try Store(
            try type.create(location, model: model, options: CostChild.options(typeName)),
            registry: StoreRegistry.standard)
    }

    private func loaded(_ name: String, with graph: SampleGraph) throws -> Store {
        let store = try create(name, model: graph.model)
        _ = try graph.load(into: store.persistentStore)
        return store
    }

    // MARK: Reading

    private func reading(_ store: Store) throws {
        let request = FetchRequest("Track")
        let count = try store.count("Track")
        // The first round is not counted, because it creates statements and pages.
        for isCounted in [false, true] {
            func run(_ name: String, per count: Int, _ body: () throws -> Void) throws {
                if isCounted { try CostChild.measure(name, per: count, body) } else { try body() }
            }
            var keys: Int64 = 0
            try run("contract: fetch, per object", per: count) {
                let snapshot = try store.persistentStore.snapshot()
                defer { snapshot.close() }
                let cursor = try snapshot.fetch(request)
                var batch = RecordBatch(model: store.model)
                while try cursor.next(into: &batch) {}
            }
            try run("contract: fetch with a copy of each record, per object", per: count) {
                let snapshot = try store.persistentStore.snapshot()
                defer { snapshot.close() }
                let cursor = try snapshot.fetch(request)
                var batch = RecordBatch(model: store.model)
                while try cursor.next(into: &batch) {
                    for index in 0..<batch.count { keys &+= batch.record(at: index).id.key }
                }
            }
            try run("contract: fetch into an array, per object", per: count) {
                let snapshot = try store.persistentStore.snapshot()
                defer { snapshot.close() }
                let cursor = try snapshot.fetch(request)
                var (batch, records) = (RecordBatch(model: store.model), [Record]())
                while try cursor.next(into: &batch) {
                    for index in 0..<batch.count { records.append(batch.record(at: index)) }
                }
                keys &+= Int64(records.count)
            }
            try run("Store.forEach, per object", per: count) {
                try store.forEach(request) { record in keys &+= record.id.key }
            }
            try run("StoreView.fetch, per object", per: count) {
                try store.read { view in keys &+= Int64(try view.fetch(request).count) }
            }
            try run("Store.record", per: 500) {
                for key in Int64(1)...500 { keys &+= try store.record("Track", key: key * 3)?.id.key ?? 0 }
            }
        }
    }

    // MARK: Writing

    private static func rows(from first: Int) -> [[String: Value]] {
        (first..<first + rowCount).map { number in
            [
                "title": .string("A title of \(number % 97)"), "year": .int(Int64(1950 + number % 70)),
                "seconds": .double(Double(number) / 7),
            ]
        }
    }

    /// Runs `body` twice with different rows, and measures the second run.
    private func second(_ name: String, _ body: ([[String: Value]]) throws -> Void) throws {
        try body(Self.rows(from: 0))
        let rows = Self.rows(from: Self.rowCount)
        try CostChild.measure("\(name), per object", per: rows.count) { try body(rows) }
    }

    private func inserting(_ graph: SampleGraph) throws {
        let committed = try loaded("committed", with: graph)
        try second("contract: commit of 1000") { rows in
            var changes = ChangeSet(model: committed.model)
            let keys = try committed.persistentStore.reserveKeys(rows.count, for: "Track")
            for (key, row) in zip(keys, rows) { try changes.insert(ObjectID("Track", key: key), values: row) }
            _ = try committed.persistentStore.commit(changes)
        }
        try committed.close()
        let batched = try loaded("batched", with: graph)
        try second("contract: batch insert of 1000") { rows in
            _ = try batched.persistentStore.execute(BatchInsertRequest("Track", rows: rows))
        }
        try batched.close()
        let inserted = try loaded("inserted", with: graph)
        try second("Store.insert of 1000") { rows in try inserted.insert("Track", rows: rows) }
        try inserted.close()
    }

    private func repeating() throws {
        let store = try create(
            "repeated",
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "Song", attributes: [.integer64("code"), .string("title"), .integer32("year"), .double("seconds")],
                    uniquenessConstraints: [["code"]])
            ]))
        func rows(from first: Int) -> [[String: Value]] {
            Self.rows(from: first).enumerated().map { index, row in
                row.merging(["code": .int(Int64(first + index))]) { $1 }
            }
        }
        try store.insert("Song", rows: rows(from: 0), onConflict: .update)
        let new = rows(from: Self.rowCount)
        for name in ["of new objects", "that changes nothing"] {
            try CostChild.measure("Store.insert of 1000 with onConflict \(name), per object", per: new.count) {
                try store.insert("Song", rows: new, onConflict: .update)
            }
        }
        try store.close()
    }

    // MARK: Rules

    private static func ruledModel() throws -> ManagedObjectModel {
        let plain: [AttributeDescription] = [.double("seconds")]
        return try ManagedObjectModel(entities: [
            EntityDescription("Plain", attributes: plain + [.string("title"), .integer32("year")]),
            EntityDescription(
                "Limited",
                attributes: plain + [
                    .string("title", isOptional: false, minimumLength: 1, maximumLength: 40),
                    .integer32("year", minimum: 1900, maximum: 2100),
                ]),
            EntityDescription(
                "Matched",
                attributes: plain + [
                    .string("title").with {
                        $0.validation = AttributeValidation(regularExpression: "A title of [0-9]+")
                    },
                    .integer32("year"),
                ]),
            EntityDescription(
                "Derived",
                attributes: plain + [
                    .string("title"), .integer32("year"),
                    .derived("plainTitle", type: .string, from: "canonical:(title)"),
                    .derived("changed", type: .date, from: "now()"),
                ]),
        ])
    }

    private func followingRules(_ store: Store) throws {
        for (entity, name) in [
            ("Plain", "an entity without rules, in a model with rules"), ("Limited", "lengths and limits"),
            ("Matched", "a pattern"), ("Derived", "two derived attributes"),
        ] {
            try second("Store.insert of 1000 with \(name)") { rows in
                try store.insert(EntityName(entity), rows: rows)
            }
        }
    }
}
