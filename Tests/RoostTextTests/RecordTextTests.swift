import Foundation
import RoostCore
import RoostJSONText
import RoostText
import Testing

@Suite("Records as text")
struct RecordTextTests {
    private let model: ManagedObjectModel

    init() throws { model = try TextSample.model() }

    private func text(_ batch: RecordBatch, at index: Int) throws(StoreError) -> String {
        let writer = RecordTextWriter(model: model)
        var text = TextBuffer()
        try batch.withRecord(at: index) { (record) throws(StoreError) in try writer.append(record, to: &text) }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    private func read(
        _ text: String, of entity: EntityName = "Thing", chunk: Int = 50
    ) throws(StoreError) -> RecordBatch {
        var tokens = makeReader(Array(text.utf8), chunk: chunk)
        var reader = RecordTextReader(model: model)
        var batch = RecordBatch(model: model)
        try reader.read(try model.requireEntity(entity).number, from: &tokens, into: &batch)
        return batch
    }

    private func failureMessage(_ text: String, of entity: EntityName = "Thing") -> String? {
        do throws(StoreError) { _ = try read(text, of: entity) } catch { return error.message }
        return nil
    }

    // MARK: Exactness

    @Test("a record reader and its copy read independently")
    func copiesReadIndependently() throws {
        var first = RecordTextReader(model: model)
        var second = first
        let entity = try model.requireEntity("Thing").number
        var batch = RecordBatch(model: model)
        for key in 1...3 {
            var tokens = makeReader(Array("{\"id\":\(2 * key - 1)}".utf8), chunk: 50)
            try first.read(entity, from: &tokens, into: &batch)
            tokens = makeReader(Array("{\"id\":\(2 * key)}".utf8), chunk: 50)
            try second.read(entity, from: &tokens, into: &batch)
        }
        #expect((0..<batch.count).map { batch.key(at: $0) } == [1, 2, 3, 4, 5, 6])
    }

    @Test("random records as text are read back byte for byte, in any chunks", arguments: 0..<40)
    func randomRecords(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var batch = RecordBatch(model: model)
        for key in 1...60 { try TextSample.appendRandomRecord(key: Int64(key), to: &batch, using: &random) }
        let writer = RecordTextWriter(model: model)
        var text = TextBuffer()
        for index in 0..<batch.count {
            try batch.withRecord(at: index) { (record) throws(StoreError) in try writer.append(record, to: &text) }
            text.append(UInt8(ascii: "\n"))
        }
        #expect(text.bytes.count { $0 == UInt8(ascii: "\n") } == batch.count, "one line a record")
        var tokens = makeReader(text.bytes, chunk: Int.random(in: 1...300, using: &random), syntax: .lines)
        var reader = RecordTextReader(model: model)
        var again = RecordBatch(model: model)
        for index in 0..<batch.count { try reader.read(batch.entityNumber(at: index), from: &tokens, into: &again) }
        #expect(try tokens.next() == .end)
        for index in 0..<batch.count {
            let (before, after) = (batch.record(at: index), again.record(at: index))
            #expect(before == after, "\(before.id)")
            #expect(try self.text(again, at: index) == self.text(batch, at: index))
        }
    }

    @Test("extreme numbers, decimals and strings are read back with every bit")
    func chosenValues() throws {
        let layout = try model.requireEntity("Thing").layout
        let (double, float) = (try layout.requireField("double"), try layout.requireField("float"))
        for value in TextSample.doubles {
            var batch = RecordBatch(model: model)
            batch.beginRecord(layout, key: 1, version: 1)
            try batch.setDouble(value, for: double)
            batch.endRecord()
            #expect(try read(text(batch, at: 0)).record(at: 0) == batch.record(at: 0), "\(value)")
        }
        for bits in TextSample.floatBits {
            var batch = RecordBatch(model: model)
            batch.beginRecord(layout, key: 1, version: 1)
            batch.setFloatBits(bits, for: float)
            batch.endRecord()
            #expect(try read(text(batch, at: 0)).record(at: 0) == batch.record(at: 0), "\(bits)")
        }
        for decimal in TextSample.decimals {
            var batch = RecordBatch(model: model)
            batch.beginRecord(layout, key: 1, version: 1)
            batch.setDecimal(try #require(DecimalNumber(utf8: decimal.utf8)), for: try layout.requireField("decimal"))
            batch.endRecord()
            #expect(try read(text(batch, at: 0)).record(at: 0) == batch.record(at: 0), "\(decimal)")
        }
        for string in TextSample.texts {
            var batch = RecordBatch(model: model)
            try batch.append(ObjectID("Thing", key: 1), values: ["string": .string(string), "uri": .uri(string)])
            #expect(try read(text(batch, at: 0)).record(at: 0) == batch.record(at: 0), "\(string.debugDescription)")
        }
    }

    @Test("a record is written on one line, with its properties sorted by name")
    func writesOneLine() throws {
        var batch = RecordBatch(model: model)
        try batch.append(
            ObjectID("Thing", key: 7), version: 2,
            values: [
                "string": "Blue", "integer16": -3, "double": -0.0, "float": 0.1, "boolean": true,
                "binaryData": .data(Data([1, 2, 3, 4])),
                "date": .date(Date(timeIntervalSinceReferenceDate: 12.5)),
                "decimal": .decimal(Decimal(string: "-12.340") ?? 0),
                "uuid": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 171))),
                "uri": .uri("http://x"),
                "object": .objectID(ObjectID("Box", key: 9)), "owner": .objectID(ObjectID("Child", key: 5)),
                "owner#order": 4,
                "box": .objectID(ObjectID("Box", key: 2)), "box#order": 0,
                "place": .composite(["name": "Oslo", "grid": .composite(["x": 1])]), "\"odd\\ náme": "x",
            ])
        #expect(
            try text(batch, at: 0) == #"""
                {"id": 7, "version": 2, "\"odd\\ náme": "x", "binaryData": "AQIDBA==", "boolean": true, "box": 2, "box#order": 0, "date": 12.5, "decimal": "-12.34", "double": -0.0, "float": 0.1, "integer16": -3, "object": "Box/9", "owner": "Child/5", "owner#order": 4, "place": {"grid": {"x": 1}, "name": "Oslo"}, "string": "Blue", "uri": "http://x", "uuid": "01020304-0506-0708-090A-0B0C0D0E0FAB"}
                """#)
        #expect(try read(text(batch, at: 0)).record(at: 0) == batch.record(at: 0))
    }

    @Test("properties named 'id' and 'version' are distinct from the record's own keys")
    func reservedNames() throws {
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Child", key: 3), version: 9, values: ["id": 77, "version": "v", "note": true])
        #expect(
            try text(batch, at: 0)
                == #"{"id": 3, "version": 9, "id#value": 77, "note": true, "version#value": "v"}"#)
        #expect(try read(text(batch, at: 0), of: "Child").record(at: 0) == batch.record(at: 0))
    }

    @Test("an empty composite and elements of a null composite are read back")
    func readsCompositesBack() throws {
        let layout = try model.requireEntity("Thing").layout
        var batch = RecordBatch(model: model)
        batch.beginRecord(layout, key: 1, version: 1)
        batch.setComposite(try layout.requireField("place"))
        batch.endRecord()
        batch.beginRecord(layout, key: 2, version: 1)
        try batch.setDouble(1.5, for: try layout.requireField("place.height"))
        batch.setComposite(try layout.requireField("place.grid"))
        try batch.setInteger(6, for: try layout.requireField("place.grid.x"))
        batch.endRecord()
        #expect(try text(batch, at: 0) == #"{"id": 1, "version": 1, "place": {}}"#)
        #expect(try text(batch, at: 1) == #"{"id": 2, "version": 1, "place.grid": {"x": 6}, "place.height": 1.5}"#)
        for index in 0..<2 { #expect(try read(text(batch, at: index)).record(at: 0) == batch.record(at: index)) }
    }

    // MARK: Records written by hand

    @Test("a record written by hand is read with members in any order, with nulls and without a version")
    func readsMembersInAnyOrder() throws {
        var batch = RecordBatch(model: model)
        try batch.append(
            ObjectID("Thing", key: 7), version: 1,
            values: [
                "string": "Blue", "binaryData": .data(Data([0])), "decimal": .decimal(12), "double": 3,
                "uuid": .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10))),
            ])
        let written = #"""
             { "uuid" : "00000000-0000-0000-0000-00000000000a" ,
              "string":"\u0042lue","integer64":null,"place":null, "id":7,"double":3,
              "decimal": 1.2e1, "binaryData" : "AA==" }
            """#
        #expect(try read(written).record(at: 0) == batch.record(at: 0))
    }

    @Test(
        "a malformed record is refused with its position and what is expected there",
        arguments: [
            (#"[1]"#, "line 1, column 1", "a record, an object, is expected, not an array"),
            (#"{"version": 1}"#, "line 1, column 14", "a record of 'Thing' has no \"id\""),
            (#"{"id": 0}"#, "line 1, column 8", "\"id\" of a record of 'Thing': a whole number above 0"),
            (#"{"id": 1.0}"#, "line 1, column 8", "a whole number above 0"),
            (#"{"id": "1"}"#, "line 1, column 8", "not a string"),
            (
                #"{"id": 9223372036854775808}"#, "line 1, column 8",
                "a whole number above 0 is expected, and the number here is out of range"
            ),
            (#"{"id": 1, "version": -1}"#, "line 1, column 22", "\"version\" of Thing/p1: a whole number of 32 bits"),
            (#"{"id": 1, "version": 4294967296}"#, "line 1, column 22", "a whole number of 32 bits"),
            (#"{"id": 1, "integer16": 32768}"#, "line 1, column 24", "and the number here is out of range"),
            (
                #"{"id": 1, "integer64": 1000000000000000000000000000000}"#, "line 1, column 24",
                "the number here is out of range"
            ),
            (
                #"{"id": 1, "integer64": 1.5}"#, "line 1, column 24",
                "a number with a fraction or an exponent was found"
            ),
            (#"{"id": 1, "double": 1e999}"#, "line 1, column 21", "the number here is out of range"),
            (#"{"id": 1, "float": 1e39}"#, "line 1, column 20", "the number here is out of range"),
            (#"{"id": 1, "date": -1e400}"#, "line 1, column 19", "the number here is out of range"),
            (#"{"id": 1, "decimal": "1e999"}"#, "line 1, column 22", "the number here is out of range"),
            (#"{"id": 1, "decimal": 1e999}"#, "line 1, column 22", "the number here is out of range"),
            (#"{"id": 1, "decimal": "x"}"#, "line 1, column 22", "a string that is not a decimal number was found"),
            (
                #"{"id": 1, "strin": "x"}"#, "line 1, column 11",
                "Thing/p1 has no property 'strin'; did you mean 'string'?"
            ),
            (#"{"strin": "x", "id": 1}"#, "line 1, column 2", "a record of 'Thing' has no property 'strin'"),
            (#"{"id": 1, "id": 1}"#, "line 1, column 11", "the key 'id' occurs twice in this object"),
            (
                #"{"id": 1, "entity": "Thing"}"#, "line 1, column 11",
                "\"entity\" of Thing/p1 is unexpected; only a line of a dump has this key, as the first key of the line"
            ),
            (#"{"id": 1, "friends": []}"#, "line 1, column 11", "no property 'friends'"),
            (
                #"{"id": 1, "string": 5}"#, "line 1, column 21",
                "property 'string' of Thing/p1: a string is expected, and a number was found"
            ),
            (#"{"id": 1, "string": {}}"#, "line 1, column 21", "an object was found"),
            (#"{"id": 1, "string": ["a"]}"#, "line 1, column 21", "an array was found"),
            (#"{"id": 1, "boolean": 1}"#, "line 1, column 22", "true or false"),
            (#"{"id": 1, "boolean": "true"}"#, "line 1, column 22", "true or false"),
            (#"{"id": 1, "integer16": 32768}"#, "line 1, column 24", "from -32768 to 32767"),
            (#"{"id": 1, "integer16": 1.5}"#, "line 1, column 24", "from -32768 to 32767"),
            (#"{"id": 1, "integer32": -2147483649}"#, "line 1, column 24", "32 bits"),
            (#"{"id": 1, "integer64": 9223372036854775808}"#, "line 1, column 24", "64 bits"),
            (#"{"id": 1, "integer64": "5"}"#, "line 1, column 24", "64 bits"),
            (#"{"id": 1, "double": 1e400}"#, "line 1, column 21", "a number, or"),
            (#"{"id": 1, "double": "1.5"}"#, "line 1, column 21", "a number, or"),
            (#"{"id": 1, "double": "NaN:0000000000000000"}"#, "line 1, column 21", "a number, or"),
            (#"{"id": 1, "double": "NaN:+ff8000000000001"}"#, "line 1, column 21", "a number, or"),
            (#"{"id": 1, "double": "nan"}"#, "line 1, column 21", "a number, or"),
            (#"{"id": 1, "float": 1e39}"#, "line 1, column 20", "a number, or"),
            (#"{"id": 1, "date": "2001-01-01"}"#, "line 1, column 19", "seconds since 2001-01-01"),
            (#"{"id": 1, "decimal": "1.2.3"}"#, "line 1, column 22", "a decimal"),
            (#"{"id": 1, "decimal": "123456789012345678901234567890123456789"}"#, "line 1, column 22", "a decimal"),
            (#"{"id": 1, "decimal": ""}"#, "line 1, column 22", "a decimal"),
            (#"{"id": 1, "decimal": 1e200}"#, "line 1, column 22", "a decimal"),
            (#"{"id": 1, "uuid": "0"}"#, "line 1, column 19", "a UUID"),
            (#"{"id": 1, "uuid": "00000000-0000-0000-0000-00000000000g"}"#, "line 1, column 19", "a UUID"),
            (#"{"id": 1, "uuid": "000000000-000-0000-0000-000000000000"}"#, "line 1, column 19", "a UUID"),
            (#"{"id": 1, "binaryData": "A"}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "AAA"}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "AB=="}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "AAB="}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "A==="}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "AA==AA=="}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "AA\nA"}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "binaryData": "ÄÄ"}"#, "line 1, column 25", "base64"),
            (#"{"id": 1, "transformable": "_-__"}"#, "line 1, column 28", "base64"),
            (#"{"id": 1, "box": "Box/1"}"#, "line 1, column 18", "the key of an object"),
            (#"{"id": 1, "box": 0}"#, "line 1, column 18", "the key of an object"),
            (#"{"id": 1, "owner": 5}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "owner": "Box/5"}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "owner": "Person/"}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "owner": "Person/-5"}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "owner": "Person/05"}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "owner": "Nobody/5"}"#, "line 1, column 20", "\"Entity/key\""),
            (#"{"id": 1, "object": "5"}"#, "line 1, column 21", "\"Entity/key\""),
            (#"{"id": 1, "place": "Oslo"}"#, "line 1, column 20", "an object is expected"),
            (#"{"id": 1, "place": {"nam": "x"}}"#, "line 1, column 21", "no property 'nam'; did you mean 'name'?"),
            (#"{"id": 1, "place": {"name": 5}}"#, "line 1, column 29", "property 'place.name' of Thing/p1"),
            (#"{"id": 1, "place": {"name": "x"}, "place.name": "y"}"#, "line 1, column 49", "given twice"),
            ("{\"id\": 1,\n \"string\": \"é\", \"uri\": 7}", "line 2, column 24", "property 'uri' of Thing/p1"),
        ])
    func refusesMalformedRecord(text: String, place: String, what: String) throws {
        let message = try #require(failureMessage(text))
        #expect(message.hasPrefix("text, \(place): "), "\(message)")
        #expect(message.contains(what), "\(message)")
    }

    @Test("a message about a record shows neither values nor control characters")
    func messagesWithoutValues() throws {
        let secret = try #require(failureMessage(#"{"id": 1, "uuid": "secret", "string": 5}"#))
        #expect(!secret.contains("secret"))
        let key = try #require(failureMessage("{\"id\": 1, \"\\u001b[31m\(String(repeating: "k", count: 500))\": 5}"))
        #expect(key.utf8.count < 300 && !key.contains("\u{1B}"))
    }

    @Test("a record that cannot be read leaves its batch unchanged")
    func batchAfterError() throws {
        var tokens = makeReader(
            Array(#"{"id": 1, "string": "a"} {"id": 2, "string": 5}"#.utf8), chunk: 9, syntax: .lines)
        var reader = RecordTextReader(model: model)
        var batch = RecordBatch(model: model)
        let thing = try model.requireEntity("Thing").number
        try reader.read(thing, from: &tokens, into: &batch)
        let (count, bytes) = (batch.count, batch.byteCount)
        #expect(throws: StoreError.self) { try self.readAgain(thing, from: &reader, into: &batch) }
        #expect(batch.count == count && batch.byteCount == bytes)
        try batch.append(ObjectID("Box", key: 1), values: [:])
    }

    private func readAgain(_ entity: Int, from reader: inout RecordTextReader, into batch: inout RecordBatch)
        throws(StoreError)
    {
        var tokens = makeReader(Array(#"{"id": 2, "string": 5}"#.utf8), chunk: 9)
        try reader.read(entity, from: &tokens, into: &batch)
    }

    @Test("a record with invalid UTF-8 is refused when written as text")
    func damagedValue() throws {
        let layout = try model.requireEntity("Thing").layout
        var batch = RecordBatch(model: model)
        batch.beginRecord(layout, key: 5, version: 1)
        let invalid: [UInt8] = [0xC3, 0x28]
        try invalid.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
            try batch.setBytes(bytes, for: try layout.requireField("string"))
        }
        batch.endRecord()
        let error = #expect(throws: StoreError.self) { try text(batch, at: 0) }
        #expect(error?.damagedObject == ObjectID("Thing", key: 5))
    }

    // MARK: Links

    /// Returns a model with two kinds of links: ordered at both ends, and unordered.
    private func linkModel() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("A", relationships: [.toMany("b", to: "B", inverse: "a", isOrdered: true)]),
            EntityDescription("B", relationships: [.toMany("a", to: "A", inverse: "b", isOrdered: true)]),
            EntityDescription("C", relationships: [.toMany("c", to: "C")]),
        ])
    }

    @Test("links as text are read back with their places")
    func readsLinksBack() throws {
        let model = try linkModel()
        let ordered = try #require(model.linkRelationships.first { $0.name.entity == "A" })
        let links = [
            Link(1, 2), Link(1, 2, order: 3), Link(.max, .max, order: .min, inverseOrder: .max),
            Link(1, 1, order: 0, inverseOrder: -1),
        ]
        var text = TextBuffer()
        text.append(UInt8(ascii: "["))
        for link in links {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            LinkText.append(link, to: &text)
        }
        text.append(UInt8(ascii: "]"))
        #expect(
            String(decoding: text.bytes, as: UTF8.self)
                == "[[1, 2],[1, 2, 3],[9223372036854775807, 9223372036854775807, -9223372036854775808, 9223372036854775807],[1, 1, 0, -1]]"
        )
        var tokens = makeReader(text.bytes, chunk: 4)
        var found: [Link] = []
        try tokens.expect(.beginArray, "links")
        while try tokens.nextElement() { found.append(try LinkText.read(from: &tokens, of: ordered)) }
        #expect(found == links)
    }

    @Test(
        "a malformed link is refused with the name of its relationship",
        arguments: [
            "[1]", "[]", "[1, 0]", "[-1, 1]", "[1, 2, 3]", "[1, 2, 0, 4]", "[1, 2, 0, 0, 0]", "[1, \"2\"]", "[1.5, 2]",
            "{}", "5", "[1, [2]]",
        ])
    func refusesMalformedLink(text: String) throws {
        let model = try linkModel()
        let plain = try #require(model.linkRelationships.first { $0.name.entity == "C" })
        var tokens = makeReader(Array(text.utf8), chunk: 4)
        _ = try tokens.next()
        var failure: StoreError?
        do throws(StoreError) { _ = try LinkText.read(from: &tokens, of: plain) } catch { failure = error }
        #expect(failure?.message.contains("'C.c'") == true)
    }
}
