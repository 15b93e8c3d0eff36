import Foundation
import RoostCore
import RoostSQL
import RoostSQLite

/// A temporary directory for one test, removed on deallocation.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-sql-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
    func location(_ name: String) -> StoreLocation { StoreLocation(type: "sqlite", path: file(name)) }
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }
    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name)))) }
    func write(_ bytes: [UInt8], to name: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: file(name))) }
}

enum Models {
    /// Returns a model with every type of attribute and relationship, a hierarchy, a constraint
    /// and an index.
    static func music() throws -> ManagedObjectModel {
        var album = EntityDescription(
            "Album",
            attributes: [AttributeDescription("title", type: .string), AttributeDescription("year", type: .integer16)],
            relationships: [
                .toMany("tracks", to: "Track", inverse: "album", isOrdered: true),
                .toMany("tags", to: "Tag", inverse: "albums", isOrdered: true),
                .toMany("similar", to: "Album", inverse: "similar"),
            ])
        album.fetchIndexes = [FetchIndexDescription("byTitle", on: "title")]
        var track = EntityDescription(
            "Track",
            attributes: [
                AttributeDescription("title", type: .string), AttributeDescription("i16", type: .integer16),
                AttributeDescription("i32", type: .integer32), AttributeDescription("i64", type: .integer64),
                AttributeDescription("number", type: .decimal), AttributeDescription("length", type: .double),
                AttributeDescription("gain", type: .float), AttributeDescription("loved", type: .boolean),
                AttributeDescription("played", type: .date), AttributeDescription("cover", type: .binaryData),
                AttributeDescription("token", type: .uuid), AttributeDescription("link", type: .uri),
                AttributeDescription("blob", type: .transformable), AttributeDescription("other", type: .objectID),
                AttributeDescription(
                    "place", type: .composite,
                    elements: [AttributeDescription("lat", type: .double), AttributeDescription("name", type: .string)]),
            ],
            relationships: [
                .toOne("album", to: "Album", inverse: "tracks"), .toOne("artist", to: "Person", inverse: "tracks"),
            ])
        track.fetchIndexes = [FetchIndexDescription("byLength", on: "length")]
        var person = EntityDescription(
            "Person", attributes: [AttributeDescription("name", type: .string)],
            relationships: [.toMany("tracks", to: "Track", inverse: "artist")])
        person.uniquenessConstraints = [["name"]]
        var singer = EntityDescription(
            "Singer", superentity: "Person", attributes: [AttributeDescription("voice", type: .string)])
        singer.uniquenessConstraints = [["voice"]]
        let drummer = EntityDescription(
            "Drummer", superentity: "Person", attributes: [AttributeDescription("voice", type: .integer32)])
        let tag = EntityDescription(
            "Tag", attributes: [AttributeDescription("name", type: .string)],
            relationships: [.toMany("albums", to: "Album", inverse: "tags")])
        return try ManagedObjectModel(entities: [album, track, person, singer, drummer, tag])
    }

    static func note(_ entity: String = "Note", attribute: String = "text") throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(entity, attributes: [AttributeDescription(attribute, type: .string)])
        ])
    }
}

extension PersistentStore {
    func keys(_ request: FetchRequest) throws -> [Int64] {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try collect(snapshot.fetch(request)).map(\.id.key)
    }

    func records(_ entity: EntityName) throws -> [Record] {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try collect(snapshot.records(of: entity, after: nil))
    }

    func digest() throws -> StoreDigest? {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try snapshot.recordedTally()?.digest
    }

    func collect(_ cursor: any RecordCursor) throws -> [Record] {
        var records: [Record] = []
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) { records += (0..<batch.count).map { batch.record(at: $0) } }
        return records
    }

    func links(_ relationship: RelationshipName, from id: ObjectID? = nil) throws -> [Link] {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        let cursor =
            try id.map { try snapshot.links(of: relationship, from: $0) }
            ?? snapshot.links(of: relationship, after: nil)
        var links: [Link] = []
        var batch = LinkBatch(relationship: 0)
        while try cursor.next(into: &batch) { links += batch.links }
        return links
    }

    /// Commits the changes that `body` puts into a change set.
    @discardableResult
    func change(_ body: (inout ChangeSet) throws -> Void) throws -> CommitReceipt {
        var changes = ChangeSet(model: model)
        try body(&changes)
        return try commit(changes)
    }

    /// Returns all findings, including differences from the recorded tally.
    func findings() throws -> [String] {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        var findings = try integrityFindings().map(\.description)
        if try snapshot.recordedTally() != snapshot.computeTally() { findings.append("tally differs") }
        return findings
    }
}

/// Returns the code of the store error that `body` throws, if any.
func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}

/// Random numbers that follow from a seed (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
