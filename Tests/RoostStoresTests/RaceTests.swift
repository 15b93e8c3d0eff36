import Foundation
import Roost
import RoostCore
import Testing

@Suite("Stores with concurrent writers")
struct RaceTests {
    private let folder = Result { try Folder() }

    private func stores(
        _ type: String, before: @escaping @Sendable (Store, Int) throws(StoreError) -> Void = { _, _ in },
        after: @escaping @Sendable () -> Void = {}
    ) throws -> (plain: Store, meddled: Store) {
        let plain = try Store.open(try folder.get().location(type), model: try Sample.model())
        return (plain, try MeddledStore.store(plain, before: before, after: after))
    }

    @Test("a task that is cancelled after its commit still gets the result", arguments: Sample.types)
    func cancelledAfterwards(type: String) async throws {
        let (plain, meddled) = try stores(type, after: { withUnsafeCurrentTask { $0?.cancel() } })
        let task = Task { try await meddled.insert("Folder", rows: [["name": "a"]]) }
        #expect(try await task.value.count == 1)
        #expect(try await plain.count("Folder") == 1)
    }

    @Test(
        "an upsert updates an object that another writer inserts just before its commit", arguments: Sample.types
    )
    func upsert(type: String) throws {
        let (plain, meddled) = try stores(
            type,
            before: { (plain, number) throws(StoreError) in
                if number == 1 { try plain.insert("Tag", rows: [["name": "a"]]) }
            })
        let result = try meddled.insert(
            "Tag", rows: [["name": "a"], ["name": "b"]], onConflict: .update, result: .objectIDs)
        #expect(try result.objectIDs == plain.fetch("Tag", sortedBy: ["name"]).map(\.id))
        #expect(try plain.count("Tag") == 2)
    }

    @Test(
        "an upsert updates objects that other writers insert just before each of its attempts to commit",
        arguments: Sample.types)
    func upsertAmongWriters(type: String) throws {
        let names = ["a", "b", "c"]
        let (plain, meddled) = try stores(
            type,
            before: { (plain, number) throws(StoreError) in
                if number <= names.count { try plain.insert("Tag", rows: [["name": .string(names[number - 1])]]) }
            })
        let rows: [[String: Value]] = (names + ["d"]).map { ["name": .string($0)] }
        let result = try meddled.insert("Tag", rows: rows, onConflict: .update, result: .objectIDs)
        #expect(try result.objectIDs == plain.fetch("Tag", sortedBy: ["name"]).map(\.id))
        #expect(try plain.count("Tag") == 4)
    }

    @Test("a delete is denied by a reference that another writer adds just before its commit", arguments: Sample.types)
    func newReference(type: String) throws {
        let (plain, meddled) = try stores(
            type,
            before: { (plain, number) throws(StoreError) in
                guard number == 1, let folder = try plain.fetch("Folder").first else { return }
                try plain.insert("Note", rows: [["title": "n", "folder": .objectID(folder.id)]])
            })
        try plain.insert("Folder", rows: [["name": "in"]])
        let error = #expect(throws: StoreError.self) { try meddled.delete("Folder") }
        #expect(error?.code == .deleteDenied)
        #expect(error?.failures.map(\.code) == [1600])
        #expect(try plain.count("Folder") == 1)
        #expect(try plain.check().isEmpty)
    }

    @Test("an insert fails if another writer deletes the object that it refers to", arguments: Sample.types)
    func deletedDestination(type: String) throws {
        let (plain, meddled) = try stores(
            type, before: { (plain, number) throws(StoreError) in if number == 1 { try plain.delete("Folder") } })
        let folder = try #require(
            try plain.insert("Folder", rows: [["name": "in"]], result: .objectIDs).objectIDs?.first)
        let error = #expect(throws: StoreError.self) {
            try meddled.insert("Note", rows: [["title": "n", "folder": .objectID(folder)]])
        }
        #expect(error?.code == .objectNotFound)
        #expect(error?.missingObjects == [folder])
        #expect(try plain.count("Note") == 0)
    }
}
