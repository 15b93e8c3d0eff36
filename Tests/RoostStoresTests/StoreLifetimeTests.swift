import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@Suite("Opening and closing stores")
struct StoreLifetimeTests {
    private let folder = Result { try Folder() }

    private struct Item: Codable, Sendable { var n: Int }

    private static let entity = EntityDescription("E", attributes: [.integer32("n")])

    private func open(_ type: String) throws -> Store { try folder.get().store(type, entities: [Self.entity]) }

    /// Opens a store with so many objects that an iteration reads them in several batches.
    private func filled(_ type: String) throws -> Store {
        let store = try open(type)
        try store.insert("E", rows: (0..<20_000).lazy.map { ["n": .int($0)] })
        return store
    }

    struct Call: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let run: @Sendable (Store) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (Store) throws -> Void) {
            (testDescription, self.run) = (name, run)
        }

        static let writing = [
            Call("insert") { try $0.insert("E", rows: [[:]]) },
            Call("insert of no rows") { try $0.insert("E", rows: []) },
            Call("insert of values") { try $0.insert([Item(n: 1)], into: "E") },
            Call("update") { try $0.update("E", set: ["n": 1]) },
            Call("update of no objects") { try $0.update("E", set: ["n": 1], where: .constant(false)) },
            Call("delete") { try $0.delete("E") },
            Call("delete of no objects") { try $0.delete([]) },
        ]
        static let others = [
            Call("fetch") { _ = try $0.fetch("E") },
            Call("count") { _ = try $0.count("E") },
            Call("record") { _ = try $0.record("E", key: 1) },
            Call("read") { store in try store.read { _ in } },
            Call("digest") { _ = try $0.digest() },
            Call("metadata") { _ = try $0.metadata() },
            Call("check") { _ = try $0.check() },
            Call("dump") { try $0.dump { _ in } },
            Call("compact") { try $0.compact() },
            Call("convert") { try $0.convert(to: .memory("converted")) },
        ]
    }

    // MARK: Closing

    @Test(
        "every call on a closed store fails with code closed, except another close", arguments: Sample.types,
        Call.writing + Call.others)
    func closed(type: String, call: Call) throws {
        let store = try open(type)
        try store.close()
        let error = #expect(throws: StoreError.self) { try call.run(store) }
        #expect(error?.code == .closed)
        try store.close()
    }

    @Test("an iteration fails after its store is closed, then ends", arguments: Sample.types)
    func closedIteration(type: String) async throws {
        let store = try filled(type)
        var iterator = store.records(FetchRequest("E")).makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        try await store.close()
        var count = 1
        var error: StoreError?
        do throws(StoreError) {
            while try await iterator.next() != nil { count += 1 }
        } catch let failure { error = failure }
        #expect(error?.code == .closed)
        #expect(count < 20_000)
        #expect(try await iterator.next() == nil)
    }

    @Test("a view cannot be read after its closure closes the store", arguments: Sample.types)
    func closedView(type: String) throws {
        let store = try open(type)
        try store.insert("E", rows: [["n": 1]])
        try store.read { view in
            try store.close()
            let error = #expect(throws: StoreError.self) { _ = try view.record("E", key: 1) }
            #expect(error?.code == .closed)
        }
    }

    @Test("an iteration that ends early releases its store", arguments: Sample.types)
    func earlyEnd(type: String) async throws {
        struct Reference { weak var store: Store? }
        let folder = try folder.get()
        func iterate() async throws -> Reference {
            let store = try folder.store(type, entities: [Self.entity])
            try await store.insert("E", rows: (0..<5000).map { ["n": .int($0)] })
            var iterator = store.records(FetchRequest("E")).makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            for try await _ in store.records(FetchRequest("E")) { break }
            return Reference(store: store)
        }
        #expect(try await iterate().store == nil)
    }

    // MARK: Opening

    /// A rule for a store with another model.
    enum Rule: CaseIterable, Sendable {
        case refuse, migrate, recreate

        var rule: IncompatibleStoreRule {
            switch self {
            case .refuse: .refuse
            case .migrate: .migrate(MigrationOptions())
            case .recreate: .recreate
            }
        }
    }

    private static var readOnly: StoreOptions {
        var options = StoreOptions()
        options.isReadOnly = true
        return options
    }

    @Test("opening read-only or with ifMissing .fail does not create a store", arguments: Sample.types, Rule.allCases)
    func missing(type: String, rule: Rule) throws {
        let location = try folder.get().location(type)
        let model = try ManagedObjectModel(entities: [Self.entity])
        for (options, ifMissing) in [
            (StoreOptions(), .fail), (Self.readOnly, .fail), (Self.readOnly, .create),
        ] as [(StoreOptions, MissingStoreRule)] {
            let error = #expect(throws: StoreError.self) {
                _ = try Store.open(
                    location, model: model, options: options, ifMissing: ifMissing, ifIncompatible: rule.rule)
            }
            #expect(error?.code == .notFound)
        }
        let modelless = #expect(throws: StoreError.self) {
            _ = try Store.open(location, ifMissing: .fail, ifIncompatible: rule.rule)
        }
        #expect(modelless?.code == .notFound)
        let again = #expect(throws: StoreError.self) { _ = try Store.open(location, ifMissing: .fail) }
        #expect(again?.code == .notFound)
    }

    @Test("a store that is opened read-only keeps its model", arguments: Sample.types, Rule.allCases)
    func otherModel(type: String, rule: Rule) throws {
        let location = try folder.get().location(type)
        let store = try open(type)
        try store.insert("E", rows: [["n": 1]])
        // A store in memory can be opened a second time while it is open.
        if type != "memory" { try store.close() }
        let model = try ManagedObjectModel(entities: [
            EntityDescription("E", attributes: [.integer32("n"), .string("m")])
        ])
        let error = #expect(throws: StoreError.self) {
            _ = try Store.open(location, model: model, options: Self.readOnly, ifIncompatible: rule.rule)
        }
        #expect(error?.code == (rule == .refuse ? .modelMismatch : .readOnly))
        let reader = try Store.open(
            location, model: try ManagedObjectModel(entities: [Self.entity]), options: Self.readOnly)
        #expect(try reader.fetch("E").map { $0.values() } == [["n": 1]])
        try reader.close()
        try store.close()
    }

    @Test("a store that is opened read-only refuses every change", arguments: Sample.types, Call.writing)
    func readOnly(type: String, call: Call) throws {
        let store = try open(type)
        try store.insert("E", rows: [["n": 7]])
        if type != "memory" { try store.close() }
        let reader = try Store.open(
            try folder.get().location(type), model: try ManagedObjectModel(entities: [Self.entity]),
            options: Self.readOnly)
        #expect(reader.isReadOnly)
        let error = #expect(throws: StoreError.self) { try call.run(reader) }
        #expect(error?.code == .readOnly)
        #expect(try reader.fetch("E").map { $0["n"] } == [7])
        try reader.close()
        let closed = #expect(throws: StoreError.self) { try call.run(reader) }
        #expect(closed?.code == .closed)
        try store.close()
    }

    // MARK: Tasks

    // One type suffices, because every type uses the same threads.
    @Test("2 000 concurrent tasks can read and write one store")
    func manyTasks() async throws {
        let store = try open("memory")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    if number.isMultiple(of: 10) {
                        try await store.insert("E", rows: [["n": .int(Int64(number))]])
                    }
                    _ = try await store.count("E")
                    await Task.yield()
                    for try await record in store.records(FetchRequest("E", limit: 3)) {
                        #expect(record["n"] != .null)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(try await store.fetch("E").map { $0["n"] }) == Set((0..<200).map { .int($0 * 10) }))
    }
}
