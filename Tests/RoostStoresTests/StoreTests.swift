import Foundation
import Roost
import RoostCore
import RoostSystem
import Testing

@Suite("Stores")
struct StoreTests {
    private let folder = Result { try Folder() }

    private func store(_ type: String) throws -> Store {
        try Store.open(try folder.get().location(type), model: try Sample.model())
    }

    private func filled(_ type: String, count: Int = 2000) throws -> Store {
        let store = try store(type)
        let folder = try #require(
            try store.insert("Folder", rows: [["name": "in"]], result: .objectIDs).objectIDs?.first)
        try store.insert(
            "Note",
            rows: (1...count).map {
                ["title": .string("n\($0)"), "stars": .int(Int64($0 % 6)), "folder": .objectID(folder)]
            })
        return store
    }

    @Test("a missing store is created with a model, and an existing one is opened", arguments: Sample.types)
    func opening(type: String) throws {
        let location = try folder.get().location(type)
        let missing = #expect(throws: StoreError.self) { _ = try Store.open(location, ifMissing: .fail) }
        #expect(missing?.code == .notFound)
        let modelless = #expect(throws: StoreError.self) { _ = try Store.open(location) }
        #expect(modelless?.code == .invalidModel)
        let store = try Store.open(location, model: try Sample.model())
        try store.insert("Folder", rows: [["name": "in"]])
        #expect(store.location == location)
        try store.close()
        let again = try Store.open(location, model: try Sample.model())
        #expect(try again.count("Folder") == 1)
        try again.close()
        let closed = #expect(throws: StoreError.self) { _ = try again.count("Folder") }
        #expect(closed?.code == .closed)
    }

    @Test("deleting objects at either end of a relationship deletes their links", arguments: Sample.types)
    func deletesLinks(type: String) throws {
        struct Tag: Encodable {
            var name: String
            var notes: [ObjectID]
        }
        let store = try filled(type, count: 3)
        let notes = try store.fetch("Note").map(\.id)
        try store.insert([Tag(name: "a", notes: notes), Tag(name: "b", notes: [notes[0]])])
        try store.delete("Note", where: "title == 'n1'")
        try store.delete("Tag", where: "name == 'a'")
        #expect(try store.count("Note") == 2)
        #expect(try store.count("Tag") == 1)
        #expect(try store.check().isEmpty)
    }

    @Test("a view shows one state while the store's objects are deleted", arguments: Sample.types)
    func view(type: String) throws {
        let store = try filled(type, count: 10)
        let counts = try store.read { view in
            let first = try view.count("Note")
            try store.delete("Note")
            return (
                first, try view.count("Note"), try view.fetch("Note", sortedBy: ["title"], limit: 2).map { $0["title"] }
            )
        }
        #expect(counts.0 == 10 && counts.1 == 10 && counts.2 == ["n1", "n10"])
        #expect(try store.count("Note") == 0)
    }

    @Test("a view cannot be read after its closure returned", arguments: Sample.types)
    func viewEnds(type: String) throws {
        let store = try store(type)
        let view = try store.read { $0 }
        let error = #expect(throws: StoreError.self) { _ = try view.count("Note") }
        #expect(error?.code == .closed)
    }

    @Test("forEach visits every object of a request", arguments: Sample.types)
    func forEach(type: String) throws {
        let store = try filled(type)
        var count = 0
        try store.forEach(FetchRequest("Note")) { _ in count += 1 }
        #expect(count == 2000)
    }

    @Test("an error thrown by the closure of forEach ends the pass and is rethrown", arguments: Sample.types)
    func forEachError(type: String) throws {
        struct Stop: Error {}
        let store = try filled(type)
        var count = 0
        #expect(throws: Stop.self) {
            try store.forEach(FetchRequest("Note")) { _ in
                count += 1
                if count == 1000 { throw Stop() }
            }
        }
        #expect(count == 1000)
    }

    @Test("a stream of records shows one state while the store's objects are deleted", arguments: Sample.types)
    func records(type: String) async throws {
        let store = try filled(type)
        var titles: [Value] = []
        for try await record in store.records(FetchRequest("Note", sortedBy: ["title"])) {
            if titles.isEmpty { try await store.delete("Note") }
            titles.append(record["title"])
        }
        #expect(titles.count == 2000)
        #expect(titles.first == "n1" && titles.last == "n999")
        #expect(try await store.count("Note") == 0)
    }

    @Test("a row request groups objects and counts each group", arguments: Sample.types)
    func groupedRows(type: String) throws {
        let store = try filled(type, count: 12)
        let request = RowRequest(
            FetchRequest("Note", sortedBy: ["stars"]),
            propertiesToFetch: ["stars", .init("count", expression: .function(.count, [.keyPath(["title"])]))],
            propertiesToGroupBy: [.keyPath(["stars"])])
        var found: [[String: Value]] = []
        try store.read { view in try view.forEachRow(request) { found.append($0) } }
        #expect(found == (0..<6).map { ["stars": .int($0), "count": 2] })
    }

    @Test("a store is created, read, changed and closed with asynchronous calls", arguments: Sample.types)
    func asynchronous(type: String) async throws {
        let location = try folder.get().location(type)
        let store = try await Store.open(location, model: try Sample.model())
        let ids = try #require(
            try await store.insert("Folder", rows: [["name": "a"], ["name": "b"]], result: .objectIDs).objectIDs)
        try await store.update("Folder", set: ["name": "c"], where: .constant(false))
        #expect(try await store.fetch("Folder", sortedBy: ["name"]).map(\.id) == ids)
        #expect(try await store.record(ids[0])?["name"] == "a")
        #expect(try await store.record("Folder", key: ids[1].key)?["name"] == "b")
        #expect(try await store.count("Folder") == 2)
        #expect(try await store.explain(FetchRequest("Folder")).access.isEmpty == false)
        #expect(try await store.read { view in try view.count("Folder") } == 2)
        #expect(try await store.check().isEmpty)
        #expect(try await store.delete([ids[0]]).count == 1)
        #expect(try await store.delete("Folder").count == 1)
        #expect(try await store.metadata().model == store.model)
        #expect(try await store.digest().objectCount == 0)
        try await store.close()
        let closed = await #expect(throws: StoreError.self) { _ = try await store.digest() }
        #expect(closed?.code == .closed)
    }

    @Test("a cancelled task can still close a store", arguments: Sample.types)
    func cancelledClosing(type: String) async throws {
        let store = try filled(type)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.close()
        }
        try await task.value
        let closed = await #expect(throws: StoreError.self) { _ = try await store.metadata() }
        #expect(closed?.code == .closed)
    }

    @Test("an insert whose task is cancelled before the commit writes nothing", arguments: Sample.types)
    func cancelled(type: String) async throws {
        let store = try store(type)
        let isReading = DispatchSemaphore(value: 0)
        let isCancelled = DispatchSemaphore(value: 0)
        /// Rows; the second row waits for the cancellation.
        struct Rows: Sequence, IteratorProtocol, Sendable {
            let isReading: DispatchSemaphore
            let isCancelled: DispatchSemaphore
            var number = 0
            mutating func next() -> [String: Value]? {
                number += 1
                if number == 2 {
                    isReading.signal()
                    isCancelled.wait()
                }
                return number > 3 ? nil : ["name": .string("f\(number)")]
            }
        }
        let task = Task {
            try await store.insert("Folder", rows: Rows(isReading: isReading, isCancelled: isCancelled))
        }
        await withCheckedContinuation { continuation in
            Thread {
                isReading.wait()
                task.cancel()
                isCancelled.signal()
                continuation.resume()
            }.start()
        }
        let error = await #expect(throws: StoreError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try await store.count("Folder") == 0)
    }

    @Test("a stream of records fails if its task is cancelled", arguments: Sample.types)
    func cancelledStream(type: String) async throws {
        let store = try filled(type)
        let task = Task {
            var count = 0
            for try await _ in store.records(FetchRequest("Note")) {
                count += 1
                if count == 1 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return count
        }
        let error = await #expect(throws: StoreError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
    }

    private func dumped(_ store: Store) throws -> String {
        var bytes: [UInt8] = []
        try store.dump { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The types whose stores remain after the process ends.
    static let lasting = Sample.types.filter { $0 != "memory" }

    @Test("a store that is converted to any type keeps its digest", arguments: Sample.types, lasting)
    func conversion(type: String, other: String) async throws {
        let store = try filled(type, count: 50)
        let location = try folder.get().location(other, name: "to-\(other)")
        let digest = try await store.digest()
        #expect(try await store.convert(to: location).verified)
        let copy = try await Store.open(location, ifMissing: .fail)
        #expect(try await copy.digest() == digest)
        try await copy.close()
        #expect(try await store.check().isEmpty)
    }

    @Test("a backup is verified, and does not replace an existing store", arguments: lasting)
    func backup(type: String) async throws {
        let store = try filled(type, count: 50)
        let location = try folder.get().location(type, name: "monday")
        #expect(try await store.backUp(to: location).verified)
        let error = await #expect(throws: StoreError.self) { try await store.backUp(to: location) }
        #expect(error?.code == .alreadyExists)
        #expect(try await store.check().isEmpty)
    }

    @Test("an asynchronous dump gives the digest and the same text as a blocking dump", arguments: Sample.types)
    func dump(type: String) async throws {
        let store = try filled(type, count: 50)
        let digest = try await store.digest()
        let bytes = Mutex<[UInt8]>([])
        #expect(try await store.dump { part in bytes.withLock { $0 += part } } == digest)
        let text = String(decoding: bytes.withLock { $0 }, as: UTF8.self)
        #expect(text.hasSuffix("\n") && text.count > 1000)
        #expect(try dumped(store) == text)
        #expect(try await store.check().isEmpty)
    }
}
