import Foundation
import Roost
import RoostCore
import Testing

@Suite("Minimum and maximum counts of relationships")
struct CountRuleTests {
    private let folder = Result { try Folder() }

    private struct Note: Codable, Sendable { var title: String, tags: [ObjectID] }

    private struct Tag: Codable, Sendable { var name: String, notes: [ObjectID] }

    /// Opens a store in which a note needs one or two tags, and inserts three tags.
    private func notes(_ type: String) throws -> (Store, [ObjectID]) {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "Note", attributes: [.string("title")],
                    relationships: [
                        RelationshipDescription("tags", destination: "Tag", inverse: "notes", minCount: 1, maxCount: 2)
                            .with { $0.isOptional = false }
                    ], uniquenessConstraints: [["title"]]),
                EntityDescription(
                    "Tag", attributes: [.string("name")],
                    relationships: [.toMany("notes", to: "Note", inverse: "tags")], uniquenessConstraints: [["name"]]),
            ])
        return (store, try store.ids("Tag", rows: [["name": "a"], ["name": "b"], ["name": "c"]]))
    }

    /// Expects that `body` fails with these violations of `tags` and does not change the store.
    private func expect(
        _ expected: [(ValidationFailure.Subject, ValidationFailure.Kind)], in store: Store,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let digest = try store.digest()
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == .validationFailed, sourceLocation: sourceLocation)
        #expect(
            error?.failures.map { "\($0.subject) \($0.property ?? "") \($0.kind)" }
                == expected.map { "\($0) tags \($1)" }, sourceLocation: sourceLocation)
        #expect(try store.digest() == digest, sourceLocation: sourceLocation)
    }

    @Test("an insert reports each row whose relationship has too few or too many objects", arguments: Sample.types)
    func rows(type: String) throws {
        let (store, tags) = try notes(type)
        try expect([(.row(2), .missing), (.row(3), .tooMany(maximum: 2))], in: store) {
            try store.insert([
                Note(title: "x", tags: [tags[0]]), Note(title: "y", tags: []), Note(title: "z", tags: tags),
            ])
        }
        try store.insert([Note(title: "x", tags: [tags[0]]), Note(title: "y", tags: [tags[0], tags[1]])])
        #expect(try store.check().isEmpty)
    }

    @Test("a delete is refused if an object would have fewer related objects than its minimum", arguments: Sample.types)
    func deletes(type: String) throws {
        let (store, tags) = try notes(type)
        try store.insert([Note(title: "x", tags: [tags[0]]), Note(title: "y", tags: [tags[0], tags[1]])])
        let x = try store.fetch("Note", where: "title == 'x'")[0].id
        try expect([(.object(x), .missing)], in: store) { try store.delete([tags[0]]) }
        #expect(try store.delete([tags[1]]).count == 1)
        #expect(try store.check().isEmpty)
    }

    @Test("a list is refused if it breaks a minimum or maximum of the inverse relationship", arguments: Sample.types)
    func inverseLists(type: String) throws {
        let (store, tags) = try notes(type)
        try store.insert([Note(title: "x", tags: [tags[0]]), Note(title: "y", tags: [tags[0], tags[1]])])
        let notes = try store.fetch("Note", sortedBy: ["title"]).map(\.id)
        try expect([(.object(notes[1]), .tooMany(maximum: 2))], in: store) {
            try store.insert([Tag(name: "c", notes: notes)], onConflict: .update)
        }
        try expect([(.object(notes[0]), .missing)], in: store) {
            try store.insert([Tag(name: "a", notes: [notes[1]])], onConflict: .update)
        }
        try store.insert([Tag(name: "c", notes: [notes[0]])], onConflict: .update)
        #expect(try store.check().isEmpty)
    }

    @Test("a bulk-loaded insert is refused if a row has too few related objects", arguments: Sample.types)
    func bulkLoad(type: String) throws {
        let store = try folder.get().store(
            type,
            entities: [
                EntityDescription(
                    "Album", attributes: [.binaryData("data")],
                    relationships: [
                        RelationshipDescription(
                            "tracks", destination: "Track", inverse: "album", minCount: 1, maxCount: nil
                        ).with { $0.isOptional = false }
                    ]),
                EntityDescription("Track", relationships: [.toOne("album", to: "Album", inverse: "tracks")]),
            ])
        let small = #expect(throws: StoreError.self) { try store.insert("Album", rows: [[:]]) }
        #expect(small?.failures.map(\.kind) == [.missing])
        let data = Value.data(Data(repeating: 7, count: 60_000))
        let rows = (0..<300).lazy.map { _ -> [String: Value] in ["data": data] }
        let large = #expect(throws: StoreError.self) { try store.insert("Album", rows: rows) }
        #expect(large?.code == .validationFailed)
        #expect(large?.failures.first?.subject == .row(1))
        #expect(try store.count("Album") == 0)
    }
}
