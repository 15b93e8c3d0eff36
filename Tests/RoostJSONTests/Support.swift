import Foundation
import RoostCore
import RoostFiles
import RoostJSON
import Testing

/// A directory for one test, and JSON stores in it.
final class Bench {
    let directory: String
    let type = JSONStoreType()

    init() throws {
        directory = NSTemporaryDirectory() + "roost-json-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String = "store") -> String { "\(directory)/\(name)" }
    func location(_ name: String = "store") -> StoreLocation { StoreLocation(type: "json", path: path(name)) }
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() } }

    func bytes(_ name: String = "store") throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    func write(_ bytes: some Sequence<UInt8>, to name: String = "store") throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    func text(_ name: String = "store") throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    /// Replaces text in the document and removes the checksum, like a person who edits the file.
    func edit(
        _ name: String = "store", replacing old: String, with new: String,
        sourceLocation: SourceLocation = #_sourceLocation
    )
        throws
    {
        let text = try text(name)
        try #require(text.contains(old), "the document has no '\(old)'", sourceLocation: sourceLocation)
        let lines = text.replacingOccurrences(of: old, with: new).split(
            separator: "\n", omittingEmptySubsequences: false)
        try write(lines.filter { !$0.hasPrefix(", \"checksum\"") }.joined(separator: "\n").utf8, to: name)
    }

    func create(_ name: String = "store", options: StoreOptions = StoreOptions()) throws -> any PersistentStore {
        try type.create(location(name), model: try libraryModel(), options: options)
    }

    func open(_ name: String = "store", readOnly: Bool = false, options: [String: String] = [:]) throws
        -> any PersistentStore
    {
        try type.open(
            location(name), options: StoreOptions(isReadOnly: readOnly, timeoutSeconds: 0, typeOptions: options))
    }

    /// Opens a store that must be refused, and requires that the store and its journal do not
    /// change.
    @discardableResult
    func refused(
        _ name: String = "store", readOnly: Bool? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StoreError {
        var result: StoreError?
        for readOnly in readOnly.map({ [$0] }) ?? [true, false] {
            let files = [name, name + "-journal"].filter { FileManager.default.fileExists(atPath: path($0)) }
            let before = try files.map { try bytes($0) }
            let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
                try open(name, readOnly: readOnly).close()
            }
            #expect(
                try files.map { try bytes($0) } == before, "a refused store was changed", sourceLocation: sourceLocation
            )
            result = error
        }
        return try #require(result, sourceLocation: sourceLocation)
    }
}

/// Returns a model with a hierarchy, a constraint, ordered and plain links, and a to-one
/// relationship.
func libraryModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(
        entities: [
            EntityDescription(
                "Author",
                attributes: [AttributeDescription("name", type: .string), AttributeDescription("code", type: .string)],
                relationships: [.toMany("books", to: "Book", inverse: "author", isOrdered: true)],
                uniquenessConstraints: [["code"]]),
            EntityDescription(
                "Editor", superentity: "Author", attributes: [AttributeDescription("since", type: .integer16)]),
            EntityDescription(
                "Book",
                attributes: [
                    AttributeDescription("title", type: .string), AttributeDescription("pages", type: .integer32),
                    AttributeDescription("price", type: .decimal), AttributeDescription("cover", type: .binaryData),
                    AttributeDescription("weight", type: .double),
                ],
                relationships: [
                    .toOne("author", to: "Author", inverse: "books"),
                    .toMany("tags", to: "Tag", inverse: "books"),
                ]),
            EntityDescription(
                "Tag", attributes: [AttributeDescription("name", type: .string)],
                relationships: [.toMany("books", to: "Book", inverse: "tags", isOrdered: true)]),
        ])
}

extension PersistentStore {
    func change(_ body: (inout ChangeSet) throws -> Void) throws {
        var changes = ChangeSet(model: model)
        try body(&changes)
        _ = try commit(changes)
    }

    /// Commits two authors, an editor, three books, two tags and three links.
    func fill() throws {
        try change { changes in
            try changes.insert(ObjectID("Author", key: 1), values: ["name": "Ada", "code": "a"])
            try changes.insert(ObjectID("Author", key: 2), values: ["name": "Bo \u{1F600} \"q\" \\", "code": "b"])
            try changes.insert(ObjectID("Editor", key: 3), values: ["name": "Cy", "code": "c", "since": 1999])
            for key in Int64(1)...3 {
                try changes.insert(
                    ObjectID("Book", key: key),
                    values: [
                        "title": .string("Book \(key)"), "pages": .int(100 * key),
                        "author": .objectID(ObjectID("Author", key: 1)),
                        "author#order": .int(key), "weight": .double(-0.0),
                        "cover": .data(Data(repeating: 0, count: 900)),
                    ])
            }
            try changes.insert(ObjectID("Tag", key: 1), values: ["name": "red"])
            try changes.insert(ObjectID("Tag", key: 2), values: ["name": "old"])
            for (book, tag) in [(1, 1), (2, 1), (3, 2)] {
                try changes.add(
                    Link(Int64(book), Int64(tag), inverseOrder: Int64(book)), to: RelationshipName("Book", name: "tags")
                )
            }
            changes.userMetadata["place"] = .some(.string("shelf"))
        }
    }

    /// Commits the title "x" and the given page count for a book.
    func setPages(_ pages: Int64, of key: Int64 = 1, version: UInt32) throws {
        try change {
            try $0.update(ObjectID("Book", key: key), version: version, values: ["title": "x", "pages": .int(pages)])
        }
    }

    /// Returns the tally of all records and links, and expects an equal recorded tally.
    func state() throws -> StoreTally {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.computeTally()
        #expect(try snapshot.recordedTally() == tally)
        return tally
    }
}
