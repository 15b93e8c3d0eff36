import Foundation
import RoostCore
import RoostFiles
import RoostSQL
import Testing

@testable import RoostSQLite

@Suite("Values in an SQLite store")
struct ValueTests {
    static let values: [[String: Value]] = [
        [
            "title": "", "i16": 0, "i32": 0, "i64": 0, "length": 0.0, "gain": 0.0, "loved": false,
            "cover": .data(Data()),
        ],
        [
            "title": "a\u{0}b\u{10FFFF}é", "link": .uri("x y\u{0}z"), "blob": .data(Data([0, 255])),
            "cover": .data(Data([0])),
        ],
        ["i16": .int(-32768), "i32": .int(Int64(Int32.min)), "i64": .int(.min), "loved": true],
        ["i16": 32767, "i32": .int(Int64(Int32.max)), "i64": .int(.max)],
        ["length": .double(-0.0), "gain": .double(-0.0), "played": .date(Date(timeIntervalSinceReferenceDate: -0.0))],
        [
            "length": .double(.infinity), "gain": .double(-.infinity),
            "played": .date(Date(timeIntervalSinceReferenceDate: .infinity)),
        ],
        ["length": .double(.nan), "gain": .double(.nan), "played": .date(Date(timeIntervalSinceReferenceDate: .nan))],
        [
            "length": .double(Double(bitPattern: 0xFFF8_0000_DEAD_BEEF)),
            "played": .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: 0x7FF0_0000_0000_0001))),
        ],
        [
            "length": .double(.leastNonzeroMagnitude), "gain": .double(Double(Float.leastNonzeroMagnitude)),
            "played": .date(Date(timeIntervalSinceReferenceDate: .leastNonzeroMagnitude)),
        ],
        ["length": .double(.greatestFiniteMagnitude), "gain": .double(Double(Float.greatestFiniteMagnitude))],
        ["length": 3.0, "gain": 3.0, "played": .date(Date(timeIntervalSinceReferenceDate: 700_000_000))],
        ["number": .decimal(Decimal(string: "-12345678901234567890123456789012345678") ?? 0)],
        ["number": .decimal(Decimal(string: "1e-127") ?? 0)], ["number": .decimal(.nan)], ["number": .decimal(0)],
        ["token": .uuid(UUID()), "other": .objectID(ObjectID("Drummer", key: .max))],
        [
            "album": .objectID(ObjectID("Album", key: 7)), "album#order": .int(-3),
            "artist": .objectID(ObjectID("Singer", key: 9)),
        ],
        ["place": .composite([:])], ["place": .composite(["lat": .double(-0.0), "name": "x"])], [:],
    ]

    @Test(
        "every bit of each value survives reopening an SQLite store", arguments: ["commit", "load", "unpublished load"])
    func keepsEveryBit(way: String) throws {
        let directory = try TemporaryDirectory()
        let type = SQLiteStoreType()
        let model = try Models.music()
        var batch = RecordBatch(model: model)
        for (index, values) in Self.values.enumerated() {
            try batch.append(ObjectID("Track", key: Int64(index + 1)), values: values)
        }
        // `Value` cannot represent a signaling NaN of 32 bits, so its bits are set directly.
        let layout = try model.requireEntity("Track").layout
        batch.beginRecord(layout, key: 100, version: 1)
        batch.setFloatBits(0x7F80_0001, for: try layout.requireField("gain"))
        batch.endRecord()

        let store = try type.create(
            directory.location("a"), model: model,
            options: StoreOptions().with { $0.isUnpublished = way == "unpublished load" })
        if way == "commit" {
            var changes = ChangeSet(model: model)
            changes.inserts = batch
            _ = try store.commit(changes)
        } else {
            let loader = try store.bulkLoader(BulkLoadOptions())
            try loader.append(batch)
            _ = try loader.finish()
        }
        try store.close()
        #expect(try directory.names == ["a", "a.lock"])

        let reopened = try type.open(directory.location("a"), options: StoreOptions())
        let expected = (0..<batch.count).map { batch.record(at: $0) }
        let found = try reopened.records("Track")
        #expect(found.map(\.bytes) == expected.map(\.bytes))
        #expect(try reopened.findings() == [])
        try reopened.close()
    }

    @Test("an update stores every bit of each value")
    func updatesEveryBit() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        try store.change { try $0.insert(ObjectID("Track", key: 1), values: [:]) }
        var version: UInt32 = 1
        for values in Self.values {
            var expected = RecordBatch(model: store.model)
            try expected.append(ObjectID("Track", key: 1), version: version + 1, values: values)
            try store.change { try $0.update(ObjectID("Track", key: 1), version: version, values: values) }
            version += 1
            #expect(try store.records("Track").map(\.bytes) == [expected.record(at: 0).bytes])
        }
        #expect(try store.findings() == [])
        try store.close()
    }

    @Test("columns of an SQLite store are readable with plain SQL")
    func writesReadableColumns() throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStoreType().create(
            directory.location("a"), model: try Models.music(), options: StoreOptions())
        try store.change {
            try $0.insert(
                ObjectID("Track", key: 1),
                values: [
                    "title": "Blue", "number": .decimal(Decimal(string: "1.50") ?? 0), "length": .double(.nan),
                    "artist": .objectID(ObjectID("Singer", key: 9)), "place": .composite(["name": "here"]),
                ])
        }
        try store.close()
        let connection = try SQLiteConnection(
            directory.file("a"), access: .immutable(nil), settings: try SQLiteSettings(StoreOptions()))
        let statement = try connection.prepare(
            "SELECT title, Track.number, length, artist, e.name, place, place_name, place_lat FROM Track JOIN _roost_entities e ON e.number = artist_entity"
        )
        #expect(try statement.step())
        var row: [SQLValue] = []
        for column in 0..<statement.columnCount { row.append(try statement.value(at: column)) }
        #expect(
            row == [
                .text("Blue"), .text("1.5"), .text("NaN"), .integer(9), .text("Singer"), .integer(1), .text("here"),
                .null,
            ])
        connection.recycle(statement)
        try connection.close()
    }

    @Test("a table has numbers before texts, and columns of UUIDs and binary data last")
    func ordersColumns() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Base",
                attributes: [
                    .uuid("a"), .binaryData("b"), .string("c"), .date("d"), .decimal("e"), .boolean("z"),
                ]),
            EntityDescription("Sub", superentity: "Base", attributes: [.string("f"), .integer64("g")]),
            EntityDescription("Alone", attributes: [.string("s"), .double("t")]),
        ])
        let schema = try SQLSchema(model, dialect: SQLiteDialect())
        let columns = schema.tables.map { item in
            item.sql.split(separator: "\n").dropFirst().dropLast().compactMap { line in
                line.split(separator: " ").first.map { $0.filter { $0 != "\"" } }
            }
        }
        #expect(
            Set(columns) == [
                ["_id", "t", "s", "_entity", "_version", "_checksum"],
                ["_id", "d", "z", "g", "_entity", "c", "e", "f", "_version", "_checksum", "a", "b"],
            ])
    }
}
