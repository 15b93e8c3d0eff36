import Foundation
import Roost
import RoostCore
import Testing

@Suite("Stores with Codable values")
struct CodableStoreTests {
    private let folder = Result { try Folder() }

    private struct Tag: Codable, Sendable, Equatable {
        var objectID: ObjectID?
        var name: String
        var notes: [ObjectID] = []
    }

    private struct Note: Codable, Sendable, Equatable {
        var objectID: ObjectID?
        var title: String
        var stars: Int8?
        var folder: ObjectID
        var tags: [ObjectID]?
    }

    private struct Box: Codable, Sendable {
        var name: String
        var notes: [ObjectID]
    }

    private func store(_ type: String) throws -> Store {
        try Store.open(try folder.get().location(type), model: try Sample.model())
    }

    @Test("Codable values are inserted with their relationships and read back equal", arguments: Sample.types)
    func relationships(type: String) throws {
        let store = try store(type)
        let tags = try #require(
            try store.insert([Tag(name: "a"), Tag(name: "b"), Tag(name: "c")], result: .objectIDs).objectIDs)
        let box = try #require(
            try store.insert([Box(name: "in", notes: [])], into: "Folder", result: .objectIDs).objectIDs?.first)
        try store.insert([
            Note(title: "x", stars: 3, folder: box, tags: [tags[2], tags[0]]),
            Note(title: "y", folder: box, tags: []),
        ])
        let notes = try store.fetch(Note.self, sortedBy: ["title"])
        #expect(notes.map(\.title) == ["x", "y"])
        #expect(notes.map(\.stars) == [3, 1])
        #expect(notes.map { Set($0.tags ?? []) } == [[tags[0], tags[2]], []])
        let read = try #require(try store.value(Tag.self, id: tags[0]))
        #expect(read == Tag(objectID: tags[0], name: "a", notes: notes.prefix(1).compactMap(\.objectID)))
        #expect(try store.value(Tag.self, id: ObjectID("Tag", key: 99)) == nil)
        #expect(try store.fetch(Box.self, of: "Folder").map(\.notes) == [notes.compactMap(\.objectID)])
        #expect(try store.check().isEmpty)
    }

    // MARK: Owners

    /// Opens a store with two notes in each of two folders; notes 1 and 2 are in the second folder.
    private func boxes(_ type: String) throws -> (store: Store, notes: [ObjectID]) {
        let store = try store(type)
        let first = try #require(
            try store.insert([Box(name: "first", notes: [])], into: "Folder", result: .objectIDs).objectIDs?.first)
        let notes = try #require(
            try store.insert(
                (1...4).map { Note(title: "n\($0)", folder: first, tags: nil) }, result: .objectIDs
            ).objectIDs)
        try store.insert([Box(name: "second", notes: [notes[0], notes[1]])], into: "Folder")
        return (store, notes)
    }

    private func folderNames(of notes: [ObjectID], in store: Store) throws -> [Value] {
        try store.read { view in
            try notes.map { id in
                let note = try #require(try view.record(id))
                guard case .objectID(let folder) = note["folder"] else { return .null }
                return try #require(try view.record(folder))["name"]
            }
        }
    }

    @Test("an inserted Codable owner takes over the objects of its list", arguments: Sample.types)
    func insertedOwner(type: String) throws {
        let (store, notes) = try boxes(type)
        #expect(try folderNames(of: notes, in: store) == ["second", "second", "first", "first"])
        #expect(try store.check().isEmpty)
    }

    @Test("an upsert of a Codable owner takes over the objects of its list", arguments: Sample.types)
    func updatedOwner(type: String) throws {
        let (store, notes) = try boxes(type)
        try store.insert([Box(name: "second", notes: notes)], into: "Folder", onConflict: .update)
        #expect(try folderNames(of: notes, in: store) == ["second", "second", "second", "second"])
        #expect(try store.check().isEmpty)
    }

    @Test("a Codable list that leaves out objects with a mandatory owner is refused", arguments: Sample.types)
    func mandatoryOwner(type: String) throws {
        let (store, notes) = try boxes(type)
        try store.insert([Box(name: "second", notes: notes)], into: "Folder", onConflict: .update)
        let error = #expect(throws: StoreError.self) {
            try store.insert([Box(name: "second", notes: [notes[0]])], into: "Folder", onConflict: .update)
        }
        #expect(error?.failures.map(\.code) == [1570, 1570, 1570])
        #expect(try folderNames(of: notes, in: store) == ["second", "second", "second", "second"])
        #expect(try store.check().isEmpty)
    }

    @Test("an upsert of a Codable list removes the links that the list leaves out", arguments: Sample.types)
    func replacedLinks(type: String) throws {
        let (store, notes) = try boxes(type)
        try store.insert([Tag(name: "a", notes: notes)])
        try store.insert([Tag(name: "a", notes: [notes[3]])], onConflict: .update)
        #expect(try store.fetch(Tag.self).map(\.notes) == [[notes[3]]])
        #expect(try store.check().isEmpty)
    }

    // MARK: Refusals and streams

    @Test("an inserted Codable value with an object ID is refused", arguments: Sample.types)
    func valueWithID(type: String) throws {
        let store = try store(type)
        let known = #expect(throws: StoreError.self) {
            try store.insert([Tag(objectID: ObjectID("Tag", key: 5), name: "a")])
        }
        #expect(known?.code == .invalidRequest)
        #expect(try store.count("Tag") == 0)
    }

    @Test("an inserted Codable value that refers to a missing object is refused", arguments: Sample.types)
    func missingObject(type: String) throws {
        let store = try store(type)
        let missing = #expect(throws: StoreError.self) {
            try store.insert([Tag(name: "a", notes: [ObjectID("Note", key: 7)])])
        }
        #expect(missing?.code == .objectNotFound)
        #expect(missing?.missingObjects == [ObjectID("Note", key: 7)])
        #expect(try store.count("Tag") == 0)
    }

    @Test("a stream of Codable values delivers every object that matches its predicate", arguments: Sample.types)
    func streams(type: String) async throws {
        let store = try store(type)
        try await store.insert((1...3000).map { Tag(name: "t\($0)") })
        var count = 0
        for try await tag in store.records(Tag.self, where: "name != 't7'", sortedBy: ["name"]) {
            count += 1
            #expect(tag.notes.isEmpty)
        }
        #expect(count == 2999)
        try store.forEach(Tag.self, where: "name BEGINSWITH 't1'") { _ in count -= 1 }
        #expect(count == 2999 - 1111)
    }

    @Test("reading a Codable value fails and names the property whose Swift type is wrong", arguments: Sample.types)
    func wrongType(type: String) throws {
        struct Wrong: Decodable, Sendable {
            var name: Int
        }
        let store = try store(type)
        try store.insert([Tag(name: "a")])
        let error = #expect(throws: StoreError.self) { try store.forEach(Wrong.self, of: "Tag") { _ in } }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains("name") == true)
    }
}
