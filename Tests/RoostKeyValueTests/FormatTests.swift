import Foundation
import RoostCore
import Testing

@testable import RoostKeyValue
@testable import RoostMemory

/// The worked examples of FORMAT.md, byte for byte.
@Suite("Format of key-value stores")
struct FormatTests {
    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02X", $0) }.joined() }

    @Test("a key-value store reports the format version of its storage, which is the engine's by default")
    func reportsFormatVersion() throws {
        #expect(try TestStore().store.metadata().formatVersion == MetaSpace.formatVersion)
        let other = try TestStore(isTrusted: false)
        #expect(try other.store.metadata().formatVersion == 7)
        #expect(
            try KeyValueStore.metadata(
                in: UntrustedStorage(other.storage), type: other.store.type, location: other.store.location
            ).formatVersion == 7)
    }

    @Test("keys of records and links have the bytes in FORMAT.md")
    func encodesKeys() {
        #expect(hex(StorageKey(record: 258, root: 3).bytes) == "03020102")
        #expect(hex(StorageKey(record: 1, root: 300).bytes) == "FF012C0101")
        let (key, inverseKey) = LinkKeys.keys(Link(1, 2, order: -1, inverseOrder: 7), relationship: 5)
        #expect(hex(key.bytes) == "050101" + "00FFFFFFFFFFFFFFFF" + "0102")
        #expect(hex(inverseKey.bytes) == "050102" + "8107" + "0101")
        #expect(hex(LinkKeys.keys(Link(1, 2), relationship: 5).key.bytes) == "0501010102")
    }

    /// Returns numbers around each power of two, and random numbers.
    private func samples() -> [Int64] {
        var random = SystemRandomNumberGenerator()
        var samples: [Int64] = [1, .max]
        for bits in 1..<63 {
            samples += [(1 << bits) - 1, 1 << bits, 1 << bits + 1, .random(in: 1...(1 << bits), using: &random)]
        }
        return samples
    }

    @Test(
        "all encoders produce the same bytes for a record key, and these decode to its parts",
        arguments: [0, 3, 254, 255, 256, 0xFEDC])
    func decodesRecordKeys(root: Int) throws {
        for key in samples() {
            let bytes = StorageKey(record: key, root: root)
            #expect(
                try ShortKey(record: key, root: root).withBytes { (bytes) throws(StoreError) in Array(bytes) }
                    == bytes.bytes)
            #expect(bytes.bytes.withUnsafeBytes { $0.recordPlace } == ObjectPlace(root: root, key: key))
            #expect(bytes.number == root)
        }
    }

    /// A search for a key below 1 must find nothing.
    @Test("a record key with a number below 1 decodes to no object", arguments: [0, -1, Int64.min])
    func decodesImpossibleKey(key: Int64) throws {
        let bytes = try ShortKey(record: key, root: 3).withBytes { (bytes) throws(StoreError) in Array(bytes) }
        #expect(bytes == StorageKey(record: key, root: 3).bytes)
        #expect(bytes.withUnsafeBytes { $0.recordPlace } == nil)
    }

    @Test("the fast reader of record keys agrees with the general decoder", arguments: [0, 3, 254, 255, 256])
    func fastRecordKeysAgree(root: Int) throws {
        let reader = RecordKeyReader(root: root)
        var readCount = 0
        func read(_ bytes: [UInt8]) -> Int64? {
            guard let key = bytes.withUnsafeBytes({ reader.key($0) }) else { return nil }
            readCount += 1
            #expect(bytes.withUnsafeBytes { $0.recordPlace } == ObjectPlace(root: root, key: key))
            return key
        }
        for key in samples() {
            let bytes = StorageKey(record: key, root: root).bytes
            let isCommon = root < 255 && key > 255 && key < 1 << 32
            #expect(read(bytes) == (isCommon ? key : nil))
            for index in bytes.indices {
                for byte in [0, 1, bytes[index] ^ 1, bytes[index] &+ 1, 255] {
                    var other = bytes
                    other[index] = byte
                    _ = read(other)
                }
            }
            _ = read(bytes + [0])
            for count in 0..<bytes.count { _ = read(Array(bytes.prefix(count))) }
        }
        #expect(root < 255 ? readCount > 500 : readCount == 0)
    }

    @Test("link keys sort by relationship, source, place and target")
    func sortsLinkKeys() throws {
        var links: [(relationship: Int, from: Int64, place: Int64, to: Int64)] = []
        let numbers = samples()
        for _ in 0..<2000 {
            links.append(
                (
                    [0, 1, 254, 255, 256, 700].randomElement() ?? 0, numbers.randomElement() ?? 1,
                    [0, 0, 1, -1, .min, numbers.randomElement() ?? 1, -(numbers.randomElement() ?? 1)].randomElement()
                        ?? 0,
                    numbers.randomElement() ?? 1
                ))
        }
        func bytes(_ link: (relationship: Int, from: Int64, place: Int64, to: Int64)) -> [UInt8] {
            LinkKeys.keys(Link(link.from, link.to, order: link.place), relationship: link.relationship).key.bytes
        }
        let sorted = links.sorted { $0 < $1 }.map(bytes)
        #expect(sorted == links.map(bytes).sorted { $0.lexicographicallyPrecedes($1) })
        for link in links {
            let key = try #require(bytes(link).withUnsafeBytes { LinkKey($0) })
            #expect((key.relationship, key.from, key.place, key.to) == link)
        }
    }

    @Test("the fast reader of link ends agrees with the general decoder")
    func fastLinkEndsAgree() throws {
        for place: Int64 in [0, 1, -1, 300, .min, .max] {
            for to in samples() {
                let bytes = LinkKeys.keys(Link(258, to, order: place), relationship: 5).key.bytes
                let byteCount = StorageKey(record: 258, root: 5).count
                func end(_ bytes: [UInt8]) -> Int64? {
                    bytes.withUnsafeBytes { LinkKey.end(of: $0, behind: byteCount) }
                }
                #expect(end(bytes) == to)
                // The readers also agree on keys with another length, place or target.
                var others = [bytes + [0]] + (byteCount..<bytes.count).map { Array(bytes.prefix($0)) }
                for index in byteCount..<bytes.count {
                    for byte in [0, 1, bytes[index] ^ 1, bytes[index] &+ 1, 255] {
                        others.append(bytes)
                        others[others.count - 1][index] = byte
                    }
                }
                for other in others { #expect(end(other) == other.withUnsafeBytes { LinkKey($0)?.to }) }
            }
        }
    }

    @Test(
        "malformed record and link keys are refused",
        arguments: [
            "", "03", "0300", "030100", "03020001", "0309010000000000000000", "030202", "0302010203",
            "0308FFFFFFFFFFFFFFFF", "FF00030101", "FF01", "FF",
        ])
    func refusesMalformedKey(_ text: String) {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        #expect(bytes.count * 2 == text.count)
        #expect(bytes.withUnsafeBytes { $0.recordPlace } == nil)
        // Link keys with such a target or a malformed place are refused too.
        #expect((StorageKey(record: 7, root: 1).bytes + bytes.dropFirst()).withUnsafeBytes { LinkKey($0) } == nil)
        for place: [UInt8] in [
            [0x80], [0x81], [0x81, 0], [0x82, 0, 1], [0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1], [0],
            [0, 1, 1, 1, 1, 1, 1, 1, 1],
        ] {
            #expect((StorageKey(record: 7, root: 1).bytes + place + [1, 1]).withUnsafeBytes { LinkKey($0) } == nil)
        }
    }

    @Test("encoded index values have the bytes in FORMAT.md")
    func encodesValues() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("small", type: .integer16), AttributeDescription("text", type: .string),
                    AttributeDescription("number", type: .double), AttributeDescription("amount", type: .decimal),
                ])
        ])
        let layout = try model.requireEntity("Thing").layout
        var batch = RecordBatch(model: model)
        try batch.append(
            ObjectID("Thing", key: 7),
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

    @Test("the key spaces of a small store have the entries in FORMAT.md")
    func writesSpaces() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "A",
                attributes: [
                    AttributeDescription("code", type: .string), AttributeDescription("size", type: .integer16),
                ],
                relationships: [.toOne("b", to: "B", inverse: "as")], uniquenessConstraints: [["code"]]
            ).with {
                $0.fetchIndexes = [
                    FetchIndexDescription("bySize", elements: [.init("size", isAscending: false), .init("code")])
                ]
            },
            EntityDescription("B", relationships: [.toMany("as", to: "A", inverse: "b", isOrdered: true)]),
        ])
        let storage = MemoryStorage()
        let uuid = StoreUUID()
        let store = try KeyValueStore(
            creating: storage, type: MemoryStoreType(), location: StoreLocation(type: "memory", path: ""), model: model,
            options: StoreOptions().with { $0.storeUUID = uuid })
        var changes = ChangeSet(model: model)
        try changes.insert(
            ObjectID("A", key: 9),
            values: ["code": "a", "size": 2, "b": .objectID(ObjectID("B", key: 1)), "b#order": 3])
        _ = try store.commit(changes)
        let reader = try storage.read()
        func entries(_ space: KeySpace) throws -> [String: String] {
            var all: [String: String] = [:]
            let cursor = try reader.cursor(in: space)
            while try cursor.next() { all[hex(Array(cursor.key))] = hex(Array(cursor.value)) }
            return all
        }
        #expect(try entries(.records).keys.sorted() == ["000109"])
        #expect(try entries(.references) == ["00" + "0101" + "8103" + "0109": ""])
        #expect(try entries(.unique) == ["00" + "01610000": "0900000000000000"])
        #expect(try entries(.indexes) == ["00" + "FE7FFFFFFFFFFFFFFD" + "01610000" + "0000000000000009": ""])
        #expect(try MetaSpace.require(MetaSpace.format, reader: reader) == [2, 0, 0, 0, 0xFF, 1, 0, 0])
        #expect(try MetaSpace.require(MetaSpace.uuid, reader: reader) == Array(uuid.description.utf8))
        #expect(try MetaSpace.require(MetaSpace.type, reader: reader) == Array("memory".utf8))
        #expect(try MetaSpace.require(MetaSpace.model, reader: reader) == model.document())
        #expect(try MetaSpace.require(MetaSpace.userMetadata, reader: reader) == Array("{}".utf8))
        #expect(try MetaSpace.require(MetaSpace.lastKey(root: 0), reader: reader) == [9, 0, 0, 0, 0, 0, 0, 0])
        let tally = try MetaSpace.require(MetaSpace.tally, reader: reader)
        #expect(tally.count == 8 * (3 + 2 * 2 + 2 * 2))
        #expect(Array(tally.prefix(32)) == [1, 2, 2, 1].flatMap { UInt64($0).littleEndianBytes })
    }
}
