import Foundation
import RoostCore
import TestSamples
import Testing

@Suite("Records")
struct RecordTests {
    @Test(
        "a value at its type's limits is the same after writing and reading a record",
        arguments: AttributeType.allCases)
    func limitsRoundTrip(_ type: AttributeType) throws {
        let model = try everyTypeModel()
        var batch = RecordBatch(model: model)
        for value in limits(of: type) {
            batch.removeAll()
            try batch.append(ObjectID("Thing", key: 5), version: 3, values: [sampleName(of: type): value])
            #expect(try batch.value(sampleName(of: type), at: 0) == value)
            #expect(batch.values(at: 0) == [sampleName(of: type): value])
            try batch.withRecord(at: 0) { (record) throws(StoreError) in try record.validate() }
        }
    }

    @Test("random objects are the same after writing and reading a record, and equal values give equal bytes")
    func randomRoundTrip() throws {
        let model = try everyTypeModel()
        var generator = SeededGenerator(seed: 20_01)
        var batch = RecordBatch(model: model)
        for key in 1...500 {
            let values = randomThing(using: &generator)
            batch.removeAll()
            try batch.append(ObjectID("Thing", key: Int64(key)), version: 7, values: values)
            try batch.append(
                ObjectID("Thing", key: Int64(key)), version: 7,
                values: Dictionary(uniqueKeysWithValues: values.shuffled(using: &generator)))
            #expect(batch.values(at: 0) == values)
            #expect(batch.record(at: 0) == batch.record(at: 1))
            try batch.withRecord(at: 0) { (record) throws(StoreError) in try record.validate() }
        }
    }

    @Test("setting an element creates the composites around the element, except composites with a value")
    func elementsByPath() throws {
        let inner = AttributeDescription(
            "d", type: .composite,
            elements: [AttributeDescription("x", type: .double), AttributeDescription("y", type: .double)])
        let outer = AttributeDescription("c", type: .composite, elements: [inner])
        let model = try ManagedObjectModel(entities: [EntityDescription("Place", attributes: [outer])])
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Place", key: 1), values: ["c.d.x": 1.5])
        try batch.append(ObjectID("Place", key: 2), values: ["c.d.x": .null])
        try batch.append(ObjectID("Place", key: 3), values: ["c": .null, "c.d.x": 1.5])
        #expect(batch.values(at: 0) == ["c": .composite(["d": .composite(["x": 1.5])])])
        #expect(batch.values(at: 1) == [:])
        #expect(try batch.value("c", at: 2) == .null)
        try batch.withRecord(at: 0) { (record) throws(StoreError) in try record.validate() }
    }

    @Test("a decimal has one stored form, however many zeros it was written with")
    func canonicalDecimals() throws {
        let model = try everyTypeModel()
        var batch = RecordBatch(model: model)
        for text in ["1.5", "1.50", "1.5000000000", "15e-1"] {
            let number = try #require(DecimalNumber(utf8: text.utf8))
            try batch.append(ObjectID("Thing", key: 1), values: ["decimal": .decimal(number.decimal)])
        }
        #expect((1..<4).allSatisfy { batch.record(at: $0) == batch.record(at: 0) })
    }

    @Test("an encoded record has the bytes shown in RECORD-FORMAT.md")
    func documentedExample() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Album", attributes: [.init("title", type: .string), .init("year", type: .integer16)],
                relationships: [.toOne("artist", to: "Artist", inverse: "albums")]),
            EntityDescription("Artist", relationships: [.toMany("albums", to: "Album", inverse: "artist")]),
        ])
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Album", key: 7), values: ["title": "Blue", "year": 1971])
        let bytes = batch.record(at: 0).bytes
        #expect(
            bytes[8...]
                == [
                    1, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xB3, 7, 4, 0, 0, 0, 0x42, 0x6C, 0x75, 0x65,
                ][...])
    }

    @Test("a record with a changed byte, length or key is refused as corrupted")
    func damageIsRefused() throws {
        let model = try everyTypeModel()
        var generator = SeededGenerator(seed: 77)
        var source = RecordBatch(model: model)
        var target = RecordBatch(model: model)
        for key in 1...20 {
            source.removeAll()
            var values = randomThing(using: &generator)
            for name in ["string", "binaryData", "transformable"] where values[name] != nil { values[name] = nil }
            values["string"] = "some text"
            try source.append(ObjectID("Thing", key: Int64(key)), values: values)
            let good = source.record(at: 0).bytes
            for index in good.indices {
                var bad = good
                bad[index] ^= UInt8.random(in: 1...255, using: &generator)
                expectRefused(bad, key: Int64(key), into: &target)
                expectRefused(Array(good[..<index]), key: Int64(key), into: &target)
            }
            expectRefused(good + [0], key: Int64(key), into: &target)
            expectRefused(good, key: Int64(key) + 1, into: &target)
        }
    }

    @Test("a record above the maximum size is refused as too long")
    func tooLong() throws {
        let model = try everyTypeModel()
        let failure = #expect(throws: StoreError.self) {
            try [UInt8](repeating: 0, count: 16).withUnsafeBytes { bytes in
                // Only the count is read.
                let long = UnsafeRawBufferPointer(start: bytes.baseAddress, count: RecordLayout.maximumByteCount + 1)
                _ = try RecordVerifier(model: model, root: 0).record(long, key: 1)
            }
        }
        #expect(failure?.code == .corrupted)
        #expect(failure?.message.contains("longer than a record can be") == true)
    }

    @Test("a record of random bytes never validates and is refused as corrupted")
    func hostileRecords() throws {
        let model = try everyTypeModel()
        var generator = SeededGenerator(seed: 4711)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...400, using: &generator)).map { _ in
                Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : 0
            }
            if bytes.count > 15, Bool.random(using: &generator) {
                let layout = try #require(model.entity("Thing")).layout
                bytes[12] = UInt8(layout.entityNumber)
                bytes[13] = 0
                bytes[14] = UInt8(layout.fields.count)
                bytes[15] = 0
            }
            bytes.withUnsafeBytes { buffer in
                do throws(StoreError) {
                    let reader = try RecordReader(checking: buffer, key: 1, model: model)
                    for field in reader.layout.fields { _ = reader.value(field) }
                    try reader.validate()
                    Issue.record("random bytes passed the validation")
                } catch {
                    #expect(error.code == .corrupted)
                }
            }
        }
    }

    @Test("a record whose string is not UTF-8 does not validate, and the error names the field")
    func nonCanonicalRecords() throws {
        let model = try everyTypeModel()
        let layout = try #require(model.entity("Thing")).layout
        var batch = RecordBatch(model: model)
        batch.beginRecord(layout, key: 1, version: 1)
        batch.setInteger64(7, for: try layout.requireField("integer64"))
        try [UInt8(0xC3), 0x28].withUnsafeBytes { bytes in
            try batch.setBytes(bytes, for: try layout.requireField("string"))
        }
        batch.endRecord()
        let failure = #expect(throws: StoreError.self) {
            try batch.withRecord(at: 0) { (record) throws(StoreError) in try record.validate() }
        }
        #expect(failure?.code == .corrupted)
        #expect(failure?.message.contains("'string'") == true)
    }

    @Test("a copied record with new values equals the record made from all values", arguments: [true, false])
    func copying(hasTail: Bool) throws {
        let model = try everyTypeModel()
        let layout = try #require(model.entity("Thing")).layout
        var values: [String: Value] = ["integer16": 7, "double": 0.5]
        if hasTail { values.merge(["string": "x", "binaryData": .data(Data([0, 1, 2]))]) { $1 } }
        var read = RecordBatch(model: model)
        try read.append(ObjectID("Thing", key: 9), version: 3, values: values)
        var changed = RecordBatch(model: model)
        try read.withRecord(at: 0) { record in
            changed.beginRecord(copying: record)
            try changed.setInteger(-5, for: try layout.requireField("integer16"))
            // The old value is null.
            changed.setInteger64(1, for: try layout.requireField("integer64"))
            changed.endRecord()
            changed.beginRecord(copying: record)
            changed.endRecord()
        }
        values["integer16"] = -5
        values["integer64"] = 1
        var expected = RecordBatch(model: model)
        try expected.append(ObjectID("Thing", key: 9), version: 3, values: values)
        #expect(changed.record(at: 0) == expected.record(at: 0))
        #expect(changed.record(at: 1) == read.record(at: 0))
        try changed.withRecord(at: 0) { (record) throws(StoreError) in try record.validate() }
    }

    @Test(
        "a wrong value or property is refused with the property's name and leaves the batch unchanged",
        arguments: [
            ("integer16", 32768, .invalidValue), ("integer32", .int(.max), .invalidValue),
            ("string", 3, .invalidValue), ("boolean", 1, .invalidValue), ("float", 1e300, .invalidValue),
            ("double", .int(1 << 53 + 1), .invalidValue), ("uuid", .data(Data(count: 15)), .invalidValue),
            ("owner", .objectID(ObjectID("Thing", key: 1)), .invalidValue),
            ("owner", .objectID(ObjectID("Person", key: 0)), .invalidValue),
            ("owner", .objectID(ObjectID("Nobody", key: 1)), .invalidValue), ("strin", "x", .unknownProperty),
            ("scratch", "x", .unknownProperty), ("tags", .null, .unknownProperty),
        ] as [(String, Value, StoreError.Code)])
    func wrongValues(name: String, value: Value, code: StoreError.Code) throws {
        var batch = RecordBatch(model: try everyTypeModel())
        try batch.append(ObjectID("Thing", key: 1), values: ["string": "x"])
        let failure = #expect(throws: StoreError.self) {
            try batch.append(ObjectID("Thing", key: 2), values: ["integer64": 1, name: value])
        }
        #expect(failure?.code == code)
        #expect(failure?.message.contains(name) == true)
        #expect(batch.count == 1)
        #expect(batch.values(at: 0) == ["string": "x"])
    }

    @Test("a record of an abstract entity or without a key is refused and leaves the batch unchanged")
    func wrongIDs() throws {
        var batch = RecordBatch(model: try everyTypeModel())
        try batch.append(ObjectID("Thing", key: 1), values: ["string": "x"])
        #expect(throws: StoreError.self) { try batch.append(ObjectID("Party", key: 2), values: [:]) }
        #expect(throws: StoreError.self) { try batch.append(ObjectID("Thing", key: 0), values: [:]) }
        #expect(batch.count == 1)
        #expect(batch.values(at: 0) == ["string": "x"])
    }

    @Test("a content hash depends on key and values, not on the version")
    func contentHash() throws {
        let model = try everyTypeModel()
        var batch = RecordBatch(model: model)
        try batch.append(ObjectID("Thing", key: 1), version: 1, values: ["integer64": 4])
        try batch.append(ObjectID("Thing", key: 1), version: 9, values: ["integer64": 4])
        try batch.append(ObjectID("Thing", key: 2), version: 1, values: ["integer64": 4])
        let hashes = (0..<3).map { batch.withRecord(at: $0) { $0.storedContentHash } }
        #expect(hashes[0] == hashes[1])
        #expect(hashes[0] != hashes[2])
        batch.setVersionOfLast(77)
        #expect(batch.version(at: 2) == 77)
        try batch.withRecord(at: 2) { (record) throws(StoreError) in try record.validate() }
    }

    private func expectRefused(
        _ bytes: [UInt8], key: Int64, into target: inout RecordBatch, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            try bytes.withUnsafeBytes { try target.append(checking: $0, key: key) }
            Issue.record("a damaged record was accepted", sourceLocation: sourceLocation)
        } catch {
            #expect((error as? StoreError)?.code == .corrupted, sourceLocation: sourceLocation)
        }
        #expect(target.isEmpty, sourceLocation: sourceLocation)
    }
}
