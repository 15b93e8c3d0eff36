import Foundation
import RoostCore
import RoostFiles
import Testing

@testable import RoostJSON

@Suite("Life cycle of JSON stores")
struct LifeCycleTests {
    @Test("a JSON commit appends only its changes, and closing leaves one file")
    func appendsOnlyChanges() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        let document = try bench.bytes()
        let before = try bench.bytes("store-journal").count
        try store.setPages(7, version: 1)
        #expect(try bench.bytes() == document)
        #expect(try bench.bytes("store-journal").count - before < 1000)
        #expect(try store.byteCount() == document.count + bench.bytes("store-journal").count)
        let state = try store.state()
        try store.close()
        #expect(try bench.names == ["store", "store.lock"])
        let again = try bench.open()
        #expect(try again.state() == state)
        try again.close()
    }

    @Test("a closed JSON storage does not read its document again")
    func closedStorage() throws {
        let bench = try Bench()
        let storage = try JSONStorage(
            creatingAt: bench.path(), settings: try JSONSettings(StoreOptions()), storeUUID: StoreUUID())
        try storage.close()
        let error = #expect(throws: StoreError.self) { try storage.integrityFindings() }
        #expect(error?.code == .closed)
    }

    @Test("the journal and the merged document have the permissions of the old document")
    func sharesPermissions() throws {
        let bench = try Bench()
        try bench.create().close()
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: bench.path())
        let store = try bench.open()
        try store.fill()
        for name in ["store", "store-journal"] {
            let permissions = try files.attributesOfItem(atPath: bench.path(name))[.posixPermissions] as? Int
            #expect(permissions == 0o644, "\(name)")
        }
        try store.close()
        #expect(try files.attributesOfItem(atPath: bench.path())[.posixPermissions] as? Int == 0o644)
    }

    @Test("each commit that would exceed journalBytes merges the journal into the document")
    func foldsJournal() throws {
        let bench = try Bench()
        try bench.create().close()
        var store: (any PersistentStore)? = try bench.open(options: ["journalBytes": "4096"])
        try store?.fill()
        var folds = 0
        var document = try bench.bytes()
        for version in UInt32(1)...60 {
            try store?.setPages(Int64(version), version: version)
            let now = try bench.bytes()
            if now != document { folds += 1 }
            document = now
            if let journal = try? bench.bytes("store-journal") { #expect(journal.count <= 4096) }
        }
        #expect(folds > 2)
        let state = try store?.state()
        store = nil
        let reader = try bench.open(readOnly: true)
        #expect(try reader.state() == state)
        try reader.close()
    }

    @Test("a load larger than journalBytes writes a new JSON document")
    func loadsIntoNewDocument() throws {
        let bench = try Bench()
        let store = try bench.open(
            options: {
                try bench.create().close(); return ["journalBytes": "4096"]
            }())
        let loader = try store.bulkLoader(BulkLoadOptions())
        var batch = RecordBatch(model: store.model)
        for key in Int64(1)...300 {
            try batch.append(ObjectID("Tag", key: key), values: ["name": .string("tag \(key)")])
        }
        try loader.append(batch)
        let before = try bench.bytes()
        _ = try loader.finish()
        #expect(try bench.bytes() != before)
        #expect(try !bench.names.contains("store-journal"))
        let reader = try bench.open(readOnly: true)
        #expect(try reader.state() == store.state())
        try reader.close()
        try store.close()
    }

    @Test("a JSON store is locked for its writer even if its file's date changes during opening")
    func locksTouchedStore() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.change { changes in
            for key in Int64(1)...3000 {
                try changes.insert(ObjectID("Tag", key: key), values: ["name": .string("tag")])
            }
        }
        try store.close()
        let lock = bench.path("store.lock")
        if FileManager.default.fileExists(atPath: lock) { try FileManager.default.removeItem(atPath: lock) }
        let path = bench.path()
        let thread = Thread {
            // The lock is taken before the document is read.
            while !FileManager.default.fileExists(atPath: lock) { usleep(1_000) }
            for _ in 0..<500 {
                try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
            }
        }
        thread.start()
        let opened = try bench.type.open(bench.location(), options: StoreOptions(timeoutSeconds: 60))
        #expect(throws: StoreError.self) { try bench.open() }
        #expect(throws: StoreError.self) {
            _ = try StoreLock.acquire(forStoreAt: bench.path(), mode: .exclusive, timeoutSeconds: 0)
        }
        try opened.close()
    }

    @Test("JSON readers see the writer's commits, and a second writer is busy")
    func readersSeeCommits() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        let reader = try bench.open(readOnly: true)
        try store.setPages(7, version: 1)
        #expect(try reader.state() == store.state())
        let second = try bench.open(readOnly: true)
        #expect(try second.state() == store.state())
        let error = #expect(throws: StoreError.self) { _ = try bench.open() }
        #expect(error?.code == .busy)
        let last = try store.state()
        try store.close()
        #expect(try reader.state() == last)
        try second.close()
        try reader.close()
    }

    @Test(
        "a JSON document edited while open is not overwritten, and its journal is kept"
    )
    func keepsForeignEdit() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        let original = try bench.bytes()
        try bench.write(original.map { $0 == UInt8(ascii: "G") ? UInt8(ascii: "g") : $0 })
        let edited = try bench.bytes()
        let journal = try bench.bytes("store-journal")
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { try store.setPages(7, version: 1) }
            #expect(error?.code == .storeReplaced)
        }
        #expect(try !store.integrityFindings().isEmpty)
        let error = #expect(throws: StoreError.self) { try store.close() }
        #expect(error?.code == .storeReplaced)
        #expect(try bench.bytes() == edited)
        #expect(try bench.bytes("store-journal") == journal)
        // With its original document, the store has all content again.
        try bench.write(original)
        let again = try bench.open()
        #expect(try again.state().digest.objectCount == 8)
        try again.close()
    }

    @Test(
        "a JSON document or journal removed while open is noticed by a commit", arguments: ["store", "store-journal"])
    func noticesRemoval(name: String) throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        try FileManager.default.moveItem(atPath: bench.path(name), toPath: bench.path("away"))
        let error = #expect(throws: StoreError.self) { try store.setPages(7, version: 1) }
        #expect(error?.code == .storeReplaced)
        #expect(throws: StoreError.self) { try store.close() }
        #expect(try !bench.names.contains(name))
        try FileManager.default.moveItem(atPath: bench.path("away"), toPath: bench.path(name))
        let again = try bench.open()
        #expect(try again.state().digest.objectCount == 8)
        try again.close()
    }

    @Test("a rewritten document keeps its permissions, and a new JSON store has mode 600")
    func keepsPermissions() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        func mode(_ name: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.path(name))
            return try #require(attributes[.posixPermissions] as? Int)
        }
        #expect(try mode("store") == 0o600)
        #expect(try mode("store-journal") == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: bench.path())
        try store.setPages(7, version: 1)
        try store.close()
        #expect(try mode("store") == 0o640)
    }

    @Test("replacing a JSON store keeps the journal's commits; destroying removes the journal")
    func replacesWithJournal() throws {
        let bench = try Bench()
        for name in ["a", "b"] {
            var store: (any PersistentStore)? = try bench.create(name)
            try store?.fill()
            if name == "a" { try store?.setPages(7, version: 1) }
            store = nil
        }
        let reader = try bench.open("a", readOnly: true)
        let state = try reader.state()
        let busy = #expect(throws: StoreError.self) {
            try bench.type.replace(bench.location("b"), with: bench.location("a"), overwriting: true)
        }
        #expect(busy?.code == .busy)
        try reader.close()
        try bench.type.replace(bench.location("b"), with: bench.location("a"), overwriting: true)
        #expect(try bench.names.filter { !$0.hasSuffix(".lock") } == ["b"])
        let moved = try bench.open("b")
        #expect(try moved.state() == state)
        try moved.setPages(9, version: 2)
        try moved.close()
        try bench.type.destroy(bench.location("b"))
        #expect(try bench.names.filter { $0 != "a.lock" } == [])
    }

    @Test("a JSON store opens through a symbolic link, but a linked journal is refused")
    func opensThroughSymbolicLink() throws {
        let bench = try Bench()
        let store = try bench.create()
        try store.fill()
        let state = try store.state()
        try store.close()
        try FileManager.default.createSymbolicLink(atPath: bench.path("link"), withDestinationPath: bench.path())
        let linked = try bench.open("link")
        #expect(try linked.state() == state)
        try linked.setPages(7, version: 1)
        try linked.close()
        #expect(try bench.names == ["link", "store", "store.lock"])
        // A symbolic link at the journal's path is not followed.
        try bench.write([1, 2, 3], to: "victim")
        try FileManager.default.createSymbolicLink(
            atPath: bench.path("store-journal"), withDestinationPath: bench.path("victim"))
        #expect(throws: StoreError.self) { _ = try bench.open() }
        #expect(throws: StoreError.self) { _ = try bench.open(readOnly: true) }
        #expect(try bench.bytes("victim") == [1, 2, 3])
    }

    @Test("a JSON store of another model is refused, and its journal is unchanged")
    func refusesOtherModel() throws {
        let bench = try Bench()
        var store: (any PersistentStore)? = try bench.create()
        try store?.fill()
        store = nil
        let (document, journal) = (try bench.bytes(), try bench.bytes("store-journal"))
        let other = try ManagedObjectModel(entities: [EntityDescription("A")])
        let error = #expect(throws: StoreError.self) {
            _ = try bench.type.open(bench.location(), options: StoreOptions(model: other))
        }
        #expect(error?.code == .modelMismatch)
        #expect(try bench.bytes() == document)
        #expect(try bench.bytes("store-journal") == journal)
        #expect(
            try bench.type.metadata(at: bench.location(), options: StoreOptions()).userMetadata["place"]
                == .string("shelf"))
        #expect(try bench.bytes("store-journal") == journal)
    }

    @Test("commits of many threads to a JSON store are all kept")
    func keepsCommitsOfThreads() throws {
        let bench = try Bench()
        let store = try bench.create(options: StoreOptions(timeoutSeconds: 60, typeOptions: ["journalBytes": "4096"]))
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<25 {
                do {
                    let key = try store.reserveKeys(1, for: "Tag").lowerBound
                    try store.change {
                        try $0.insert(ObjectID("Tag", key: key), values: ["name": .string("\(thread)/\(number)")])
                    }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let state = try store.state()
        #expect(state.digest.objectCount == 100)
        try store.close()
        let again = try bench.open()
        #expect(try again.state() == state)
        try again.close()
    }
}
