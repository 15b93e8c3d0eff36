import Foundation
import RoostCore
import RoostJSONText
import RoostText
import Testing

@Suite("Columns of records as text")
struct RecordRowWriterTests {
    let model: ManagedObjectModel

    init() throws {
        model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person", attributes: [.init("name", type: .string), .init("id", type: .integer64)],
                relationships: [.toMany("things", to: "Thing", inverse: "owner")]),
            EntityDescription("Child", superentity: "Person", attributes: [.init("toy", type: .string)]),
            EntityDescription(
                "Thing",
                attributes: [
                    .init("text", type: .string), .init("link", type: .uri), .init("whole", type: .integer64),
                    .init("real", type: .double),
                    .init("small", type: .float), .init("exact", type: .decimal), .init("flag", type: .boolean),
                    .init("day", type: .date),
                    .init("bytes", type: .binaryData), .init("token", type: .uuid), .init("object", type: .objectID),
                    .init(
                        "place", type: .composite,
                        elements: [
                            .init("city", type: .string),
                            .init("inner", type: .composite, elements: [.init("n", type: .integer16)]),
                        ]),
                ],
                relationships: [.toOne("owner", to: "Person", inverse: "things"), .toOne("next", to: "Thing")]),
        ])
    }

    func rows(_ names: [String]?, of entity: EntityName = "Thing") throws -> RecordRowWriter {
        RecordRowWriter(try RecordColumns(names, of: entity, model: model), model: model)
    }

    func csv(_ names: [String]?, values: [String: Value], of entity: EntityName = "Thing") throws -> String {
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID(entity, key: 7), version: 3, values: values)
        let rows = try rows(names, of: entity)
        var text = TextBuffer()
        try batch.withRecord(at: 0) { (record) throws(StoreError) in try rows.appendCSV(record, to: &text) }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    func json(_ names: [String], values: [String: Value]) throws -> String {
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Thing", key: 7), version: 3, values: values)
        let rows = try rows(names)
        var text = TextBuffer()
        try batch.withRecord(at: 0) { (record) throws(StoreError) in try rows.appendJSON(record, to: &text) }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test(
        "CSV quotes a text only where needed, and distinguishes null from empty text",
        arguments: [
            (.null, "7,,7\n"), ("", "7,\"\",7\n"), ("a", "7,a,7\n"), ("a,b", "7,\"a,b\",7\n"),
            ("say \"hi\"", "7,\"say \"\"hi\"\"\",7\n"), ("\"", "7,\"\"\"\",7\n"), ("a\nb", "7,\"a\nb\",7\n"),
            ("a\r\nb", "7,\"a\r\nb\",7\n"), (" a", "7,\" a\",7\n"), ("a ", "7,\"a \",7\n"), ("a b", "7,a b,7\n"),
            ("日本,é", "7,\"日本,é\",7\n"), ("a\u{0}b", "7,a\u{0}b,7\n"), ("=1+1", "7,=1+1,7\n"),
        ] as [(Value, String)])
    func quotesCSV(value: Value, line: String) throws {
        #expect(try csv(["id", "text", "id"], values: ["text": value]) == line)
    }

    @Test(
        "a value of each type is written exactly in CSV and in JSON",
        arguments: [
            ("whole", .int(.min), "-9223372036854775808", "-9223372036854775808"),
            ("real", .double(0.1), "0.1", "0.1"), ("real", .double(-0.0), "-0.0", "-0.0"),
            ("real", .double(.nan), "NaN", "\"NaN\""), ("real", .double(-.infinity), "-Infinity", "\"-Infinity\""),
            (
                "real", .double(Double(bitPattern: 0x7FF8_0000_0000_0001)), "NaN:7ff8000000000001",
                "\"NaN:7ff8000000000001\""
            ),
            ("small", .double(Double(Float(4.1))), "4.1", "4.1"),
            (
                "exact", .decimal(Decimal(string: "-12345678901234567890.5") ?? 0), "-12345678901234567890.5",
                "\"-12345678901234567890.5\""
            ),
            ("flag", .bool(true), "true", "true"),
            ("day", .date(Date(timeIntervalSinceReferenceDate: 0.25)), "0.25", "0.25"),
            ("bytes", .data(Data([0, 255])), "AP8=", "\"AP8=\""), ("bytes", .data(Data()), "\"\"", "\"\""),
            (
                "token", .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 171))),
                "00000000-0000-0000-0000-0000000000AB", "\"00000000-0000-0000-0000-0000000000AB\""
            ),
            ("object", .objectID(ObjectID("Child", key: 5)), "Child/5", "\"Child/5\""),
            ("owner", .objectID(ObjectID("Child", key: 5)), "Child/5", "\"Child/5\""),
            ("next", .objectID(ObjectID("Thing", key: 5)), "5", "5"), ("link", .uri("a b"), "a b", "\"a b\""),
            (
                "place", .composite(["city": "Ulm", "inner": .composite(["n": 3])]),
                "\"{\"\"city\"\": \"\"Ulm\"\", \"\"inner\"\": {\"\"n\"\": 3}}\"",
                "{\"city\": \"Ulm\", \"inner\": {\"n\": 3}}"
            ),
            ("place", .composite([:]), "{}", "{}"), ("place", .null, "", "null"), ("text", "", "\"\"", "\"\""),
        ] as [(String, Value, String, String)])
    func writesExactValues(name: String, value: Value, cell: String, node: String) throws {
        #expect(try csv([name], values: [name: value]) == cell + "\n")
        #expect(try json([name], values: [name: value]) == "{\"\(name)\": \(node)}")
    }

    @Test("columns can be composite elements, keys, versions and entities")
    func selectsColumns() throws {
        let place = Value.composite(["city": "Ulm", "inner": .composite(["n": 3])])
        #expect(
            try json(
                ["place.inner", "place.inner.n", "place.city", "id", "version", "entity"], values: ["place": place])
                == #"{"place.inner": {"n": 3}, "place.inner.n": 3, "place.city": "Ulm", "id": 7, "version": 3, "entity": "Thing"}"#
        )
        // A property called `id` is not the key.
        #expect(try csv(["id", "id#value", "entity"], values: ["id": 99], of: "Child") == "7,99,Child\n")
    }

    @Test("default columns are the key, the entity if it varies, and all properties")
    func defaultColumns() throws {
        #expect(try rows(nil, of: "Person").columns.columns.map(\.name) == ["id", "entity", "id#value", "name"])
        #expect(try rows(nil, of: "Child").columns.columns.map(\.name) == ["id", "id#value", "name", "toy"])
        #expect(try rows(nil).columns.columns.map(\.name).suffix(3) == ["whole", "next", "owner"])
    }

    @Test("the CSV header has the names of the columns")
    func writesCSVHeader() throws {
        var header = TextBuffer()
        try rows(["id", "place.city"]).appendCSVHeader(to: &header)
        #expect(String(decoding: header.bytes, as: UTF8.self) == "id,place.city\n")
    }

    @Test(
        "an unknown column is refused with the nearest name",
        arguments: [
            ("txet", .unknownProperty, "did you mean 'text'?"), ("place.citty", .unknownProperty, "'place.city'"),
            ("versoin", .unknownProperty, "'version'"),
        ] as [(String, StoreError.Code, String)])
    func refusesUnknownColumn(name: String, code: StoreError.Code, message: String) {
        #expect {
            try RecordColumns([name], of: "Thing", model: model)
        } throws: { error in
            guard let error = error as? StoreError else { return false }
            return error.code == code && error.message.contains(message)
        }
    }
}
