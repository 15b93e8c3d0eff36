import Foundation
import RoostCore
import RoostKeyValue
import RoostMemory
import RoostSystem
import Testing

/// Returns a model with everything that the engine stores.
func musicModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(
        entities: [
            EntityDescription(
                "Artist",
                attributes: [
                    AttributeDescription("name", type: .string), AttributeDescription("rank", type: .integer32),
                    AttributeDescription("code", type: .string),
                ],
                relationships: [
                    .toMany("albums", to: "Album", inverse: "artist", isOrdered: true),
                    .toMany("friends", to: "Artist", inverse: "friends"),
                    .toMany("partners", to: "Artist", inverse: "partners", isOrdered: true),
                ],
                uniquenessConstraints: [["code"]]
            ).with { $0.fetchIndexes = [FetchIndexDescription("byName", on: "name", "rank")] },
            EntityDescription(
                "Band", superentity: "Artist", attributes: [AttributeDescription("size", type: .integer16)]
            ).with {
                $0.fetchIndexes = [
                    FetchIndexDescription("bySize", elements: [.init("size", isAscending: false)])
                ]
            },
            EntityDescription(
                "Album",
                attributes: [
                    AttributeDescription("title", type: .string), AttributeDescription("price", type: .decimal),
                    AttributeDescription("length", type: .double), AttributeDescription("cover", type: .binaryData),
                ],
                relationships: [
                    .toOne("artist", to: "Artist", inverse: "albums"),
                    .toMany("genres", to: "Genre", inverse: "albums"),
                    .toMany("notes", to: "Genre"),
                ],
                uniquenessConstraints: [["title", "price"]]),
            EntityDescription(
                "Genre", attributes: [AttributeDescription("name", type: .string)],
                relationships: [
                    .toMany("albums", to: "Album", inverse: "genres"),
                    .toMany("chart", to: "Album", inverse: "charts", isOrdered: true),
                ]),
            EntityDescription(
                "Chart", superentity: nil, attributes: [AttributeDescription("year", type: .integer64)]),
        ].map { entity in
            var entity = entity
            if entity.name == "Album" {
                entity.relationships.append(.toMany("charts", to: "Genre", inverse: "chart", isOrdered: true))
            }
            return entity
        })
}

/// A storage in memory with format version 7 and without `holdsCheckedMemory`.
///
/// So the engine compares the checksums of the records that it reads.
final class UntrustedStorage: OrderedKeyValueStorage {
    private let base: MemoryStorage
    /// The number of flushes that still fail.
    private let failingSyncCount: Mutex<Int>
    /// A call after each write that has committed and not returned.
    let afterWrite = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ base: MemoryStorage, failingSyncCount: Int = 0) {
        (self.base, self.failingSyncCount) = (base, Mutex(failingSyncCount))
    }

    var maximumKeyByteCount: Int { base.maximumKeyByteCount }
    var formatVersion: Int { 7 }
    func read() throws(StoreError) -> any KeyValueReader { try base.read() }
    func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let result = try base.write(timeoutSeconds: timeoutSeconds, body)
        afterWrite.withLock { $0 }?()
        return result
    }
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        try base.beginLongWrite(timeoutSeconds: timeoutSeconds)
    }
    func sync() throws(StoreError) {
        let fails = failingSyncCount.withLock { count in
            count -= 1
            return count >= 0
        }
        if fails { throw StoreError(.noSpace, "The disk is full.") }
        try base.sync()
    }
    func byteCount() throws(StoreError) -> Int { try base.byteCount() }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { try base.integrityFindings() }
    func close() throws(StoreError) { try base.close() }
}

/// A store on a storage in memory, with short methods to write and read.
struct TestStore {
    let model: ManagedObjectModel
    let storage: MemoryStorage
    let store: any PersistentStore

    init(
        _ options: StoreOptions = StoreOptions(timeoutSeconds: 0), isTrusted: Bool = true, failingSyncCount: Int = 0
    ) throws {
        model = try musicModel()
        storage = MemoryStorage()
        store = try KeyValueStore(
            creating: isTrusted ? storage : UntrustedStorage(storage, failingSyncCount: failingSyncCount),
            type: MemoryStoreType(),
            location: StoreLocation(type: "memory", path: ""), model: model,
            options: options)
    }

    @discardableResult
    func commit(_ body: (inout ChangeSet) throws -> Void) throws -> CommitReceipt {
        var changes = ChangeSet(model: model)
        try body(&changes)
        return try store.commit(changes)
    }

    func artist(_ key: Int64) -> ObjectID { ObjectID("Artist", key: key) }
    func album(_ key: Int64) -> ObjectID { ObjectID("Album", key: key) }
    func genre(_ key: Int64) -> ObjectID { ObjectID("Genre", key: key) }

    /// Commits two artists, a band, three albums, two genres and eight links.
    func fill() throws {
        try commit { changes in
            try changes.insert(artist(1), values: ["name": "Ada", "code": "a", "rank": 2])
            try changes.insert(artist(2), values: ["name": "Bo", "code": "b"])
            try changes.insert(ObjectID("Band", key: 3), values: ["name": "Duo", "code": "c", "size": 2])
            for (key, order) in [(1, 3), (2, 1), (3, 2)] {
                try changes.insert(
                    album(Int64(key)),
                    values: [
                        "title": .string("T\(key)"), "price": .decimal(Decimal(key)), "artist": .objectID(artist(1)),
                        "artist#order": .int(Int64(order)),
                    ])
            }
            try changes.insert(genre(1), values: ["name": "Jazz"])
            try changes.insert(genre(2), values: ["name": "Folk"])
            try changes.add(Link(1, 1), to: RelationshipName("Album", name: "genres"))
            try changes.add(Link(1, 2), to: RelationshipName("Album", name: "genres"))
            try changes.add(Link(2, 1), to: RelationshipName("Album", name: "genres"))
            try changes.add(Link(2, 1), to: RelationshipName("Artist", name: "friends"))
            try changes.add(Link(1, 3, order: 5, inverseOrder: 2), to: RelationshipName("Artist", name: "partners"))
            try changes.add(Link(1, 2, order: 4, inverseOrder: 1), to: RelationshipName("Artist", name: "partners"))
            try changes.add(Link(1, 3, order: 10, inverseOrder: 20), to: RelationshipName("Genre", name: "chart"))
            try changes.add(Link(1, 1, order: 30, inverseOrder: 40), to: RelationshipName("Genre", name: "chart"))
        }
    }

    func snapshot() throws -> any StoreSnapshot { try store.snapshot() }

    func digest() throws -> StoreDigest {
        let snapshot = try store.snapshot()
        let recorded = try #require(try snapshot.recordedTally())
        let computed = try snapshot.computeTally()
        #expect(recorded == computed)
        return recorded.digest
    }

    func findings() throws -> [String] { try store.integrityFindings().map(\.message) }
}

extension StoreSnapshot {
    func all(_ cursor: any RecordCursor) throws -> RecordBatch {
        var (all, batch) = (RecordBatch(model: model), RecordBatch(model: model))
        while try cursor.next(into: &batch) { for index in 0..<batch.count { all.append(batch, at: index) } }
        return all
    }

    func ids(of entity: EntityName) throws -> [ObjectID] {
        let batch = try all(try records(of: entity, after: nil))
        return (0..<batch.count).map { batch.id(at: $0) }
    }

    func record(_ id: ObjectID) throws -> Record? {
        let batch = try all(try records(with: [id]))
        return batch.isEmpty ? nil : batch.record(at: 0)
    }

    func keys(_ request: FetchRequest) throws -> [Int64] {
        let batch = try all(try fetch(request))
        #expect(try count(request) == batch.count)
        return (0..<batch.count).map { batch.key(at: $0) }
    }

    func all(_ cursor: any LinkCursor) throws -> [Link] {
        var (all, batch) = ([Link](), LinkBatch(relationship: 0))
        while try cursor.next(into: &batch) { all += batch.links }
        return all
    }

    func targets(of entity: EntityName, by relationship: String, from id: ObjectID) throws -> [Int64] {
        try all(try links(of: RelationshipName(entity, name: relationship), from: id)).map(\.target)
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

struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
