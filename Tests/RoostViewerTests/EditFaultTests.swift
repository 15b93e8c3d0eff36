#if Interactive
    import Roost
    import RoostCore
    import RoostStores
    import RoostSystem
    import Testing

    @testable import RoostViewer

    @Suite("Edits during which a read of the store fails")
    struct EditFaultTests {
        private let faulty: FailingReads
        private let store: Store
        private let editor: StoreEditor

        init() throws {
            faulty = FailingReads(
                try StoreRegistry.standard.create(
                    StoreLocation(type: "memory", path: ""), model: try ViewedLibrary.model()))
            store = try Store(faulty, registry: .standard)
            try ViewedLibrary.fill(store)
            editor = try StoreEditor(store)
        }

        private func set(_ property: String, to value: Value) throws {
            try editor.change("Edit") { context in
                let album = try context.existingObject(with: ObjectID("Album", key: 1))
                album[property] = value
            }
        }

        private func value(_ property: String) throws -> Value? {
            try store.record("Album", key: 1)?.value(property)
        }

        /// Runs `body` while one read of the store fails, and returns whether `body` succeeded.
        private func succeeds(failingAt read: Int, _ body: () throws -> Void) -> Bool {
            faulty.fail(at: read)
            defer { faulty.fail(at: nil) }
            do {
                try body()
                return true
            } catch {
                return false
            }
        }

        @Test("if a read fails during an edit, the edit is saved, or fails and changes nothing", arguments: 1...8)
        func edit(read: Int) throws {
            let former = try value("title")
            let isDone = succeeds(failingAt: read) { try set("title", to: "One") }
            let expected = isDone ? Value.string("One") : former
            #expect(try value("title") == expected)
            try set("year", to: .int(1900))
            try editor.undo(redoing: false, revision: nil)
            #expect(try value("year") != Value.int(1900))
            #expect(try value("title") == expected)
        }

        @Test("if a read fails during an undo, the undo is saved, or fails and changes nothing", arguments: 1...8)
        func undo(read: Int) throws {
            let former = try value("title")
            try set("title", to: "One")
            let isDone = succeeds(failingAt: read) { try editor.undo(redoing: false, revision: nil) }
            let expected = isDone ? former : Value.string("One")
            #expect(try value("title") == expected)
            // No later save contains a part of the failed undo.
            try set("year", to: .int(1900))
            #expect(try value("title") == expected)
        }
    }

    /// A store in which one read fails.
    private final class FailingReads: PersistentStore {
        private let base: any PersistentStore
        /// The number of reads up to and including the failing read; nil if no read fails.
        private let readsLeft = Mutex<Int?>(nil)

        init(_ base: any PersistentStore) { self.base = base }

        /// Makes the read with this number fail, counted from 1; nil makes all reads succeed.
        func fail(at read: Int?) { readsLeft.withLock { $0 = read } }

        var type: any PersistentStoreType { base.type }
        var location: StoreLocation { base.location }
        var model: ManagedObjectModel { base.model }
        var isReadOnly: Bool { base.isReadOnly }
        func metadata() throws(StoreError) -> StoreMetadata { try base.metadata() }
        func snapshot() throws(StoreError) -> any StoreSnapshot {
            let fails = readsLeft.withLock { count in
                count = count.map { $0 - 1 }
                return count == 0
            }
            if fails { throw StoreError(.ioFailure, "injected: read") }
            return try base.snapshot()
        }
        func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
            try base.reserveKeys(count, for: entity)
        }
        func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try base.commit(changes) }
        func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader {
            try base.bulkLoader(options)
        }
        func byteCount() throws(StoreError) -> Int { try base.byteCount() }
        func close() throws(StoreError) { try base.close() }
    }
#endif
