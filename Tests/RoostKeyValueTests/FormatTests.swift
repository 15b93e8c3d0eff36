import Foundation
import RoostCore
import Testing

@testable import RoostKeyValue
@testable import RoostMemory

/// The worked examples of FORMAT.md, byte for byte.
@Suite("The key-value format")
struct FormatTests {
    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02X", $0) }.joined() }

    @Test("keys of records, links and references")
    func keys() {
        #expect(hex(StorageKey(record: 258, root: 3).bytes) == "00030000000000000102")
        for key in [1, 258, 0x0102_0304_0506_0708, Int64.max] {
            for root in [0, 3, 0xFEDC] {
                let record = RecordKey(key, root: root)
                #expect((try? record.withBytes { Array($0) }) == StorageKey(record: key, root: root).bytes)
            }
        }
        let (key, inverseKey) = LinkKeys.keys(Link(1, 2, order: -1, inverseOrder: 7), 5)
        #expect(hex(key.bytes) == "0005" + "0000000000000001" + "7FFFFFFFFFFFFFFF" + "0000000000000002")
        #expect(hex(inverseKey.bytes) == "0005" + "0000000000000002" + "8000000000000007" + "0000000000000001")
    }

    @Test("encoded values")
    func values() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("small", .integer16), AttributeDescription("text", .string),
                    AttributeDescription("number", .double), AttributeDescription("amount", .decimal),
                ])
        ])
        let layout = try model.requireEntity("Thing").layout
        var batch = RecordBatch(model: model)
        try batch.append(
            ObjectID("Thing", 7),
            values: [
                "small": 2, "text": "a", "number": -1.5, "amount": .decimal(try #require(Decimal(string: "12.5"))),
            ])
        func encoded(_ name: String, isAscending: Bool = true) throws -> String {
            let field = try layout.requireField(name)
            var bytes: [UInt8] = []
            batch.withRecord(at: 0) {
                _ = IndexKeyEncoding.append(field, of: $0, isAscending: isAscending, model: model, to: &bytes)
            }
            return hex(bytes)
        }
        #expect(try encoded("text") == "01610000")
        #expect(try encoded("small", isAscending: false) == "FE7FFFFFFFFFFFFFFD")
        #expect(try encoded("number") == "014007FFFFFFFFFFFF")
        let digits = try #require(UInt128("125" + String(repeating: "0", count: 35)))
        #expect(try encoded("amount") == "01020402" + hex(withUnsafeBytes(of: digits.bigEndian) { Array($0) }))
    }

    @Test("the spaces of a small store")
    func spaces() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A", attributes: [AttributeDescription("code", .string), AttributeDescription("size", .integer16)],
                relationships: [.toOne("b", "B", inverse: "as")], uniquenessConstraints: [["code"]],
                fetchIndexes: [
                    FetchIndexDescription("bySize", elements: [.init("size", isAscending: false), .init("code")])
                ]),
            EntityDescription("B", relationships: [.toMany("as", "A", inverse: "b", isOrdered: true)]),
        ])
        let storage = MemoryStorage()
        let uuid = StoreUUID()
        let store = try KeyValueStore(
            creating: storage, type: MemoryStoreType(), url: StoreURL(type: "memory", path: ""), model: model,
            options: StoreOptions(storeUUID: uuid))
        var changes = ChangeSet(model: model)
        try changes.insert(
            ObjectID("A", 9), values: ["code": "a", "size": 2, "b": .objectID(ObjectID("B", 1)), "b#order": 3])
        _ = try store.commit(changes)
        let reader = try storage.read()
        func entries(_ space: KeySpace) throws -> [String: String] {
            var all: [String: String] = [:]
            let cursor = try reader.cursor(in: space)
            while try cursor.next() { all[hex(Array(cursor.key))] = hex(Array(cursor.value)) }
            return all
        }
        #expect(try entries(.records).keys.sorted() == ["00000000000000000009"])
        #expect(try entries(.references) == ["0000" + "0000000000000001" + "8000000000000003" + "0000000000000009": ""])
        #expect(try entries(.unique) == ["0000" + "01610000": "0900000000000000"])
        #expect(try entries(.indexes) == ["0000" + "FE7FFFFFFFFFFFFFFD" + "01610000" + "0000000000000009": ""])
        #expect(try MetaSpace.require(MetaSpace.format, reader) == [1, 0, 0, 0, 0xFF, 1, 0, 0])
        #expect(try MetaSpace.require(MetaSpace.uuid, reader) == Array(uuid.description.utf8))
        #expect(try MetaSpace.require(MetaSpace.type, reader) == Array("memory".utf8))
        #expect(try MetaSpace.require(MetaSpace.model, reader) == model.document())
        #expect(try MetaSpace.require(MetaSpace.userMetadata, reader) == Array("{}".utf8))
        #expect(try MetaSpace.require(MetaSpace.lastKey(root: 0), reader) == [9, 0, 0, 0, 0, 0, 0, 0])
        let tally = try MetaSpace.require(MetaSpace.tally, reader)
        #expect(tally.count == 8 * (3 + 2 * 2 + 2 * 2))
        #expect(Array(tally.prefix(32)) == [1, 2, 2, 1].flatMap { UInt64($0).littleEndianBytes })
    }
}
