import Foundation
import RoostCore
import RoostMigration
import Testing

@testable import RoostAppleModels
@testable import RoostCoreData

/// Small files that expand to large ones, and numbers that no program writes.
@Suite("Limits of archives and of Apple's model files")
struct ArchiveLimitTests {
    private static func decimal(_ a: inout ArchiveWriter, exponent: Int64) -> TestPlist {
        a.object(
            "NSDecimalNumberPlaceholder",
            fields: [
                ("NS.mantissa", .data([10] + [UInt8](repeating: 0, count: 15))), ("NS.mantissa.bo", .int(1)),
                ("NS.exponent", .int(exponent)), ("NS.length", .int(1)), ("NS.negative", .bool(false)),
            ])
    }

    /// Returns a compiled model of one entity with one attribute.
    private static func model(
        entity: String = "E", attribute: String = "a", entityFields: [(String, TestPlist)] = [],
        attributeFields: [(String, TestPlist)] = [], in a: inout ArchiveWriter
    ) -> [UInt8] {
        let attributeObject = a.object(
            "NSAttributeDescription",
            fields: [
                ("NSPropertyName", a.string(attribute)), ("NSAttributeType", .int(400)), ("NSIsOptional", .bool(true)),
            ]
                + attributeFields)
        let entityObject = a.object(
            "NSEntityDescription",
            fields: [
                ("NSEntityName", a.string(entity)), ("NSProperties", a.dictionary([(attribute, attributeObject)])),
            ] + entityFields)
        let root = a.object("NSManagedObjectModel", fields: [("NSEntities", a.dictionary([(entity, entityObject)]))])
        return a.archive(root)
    }

    @Test("an integer of sixteen bytes is read if it fits into 64 bits")
    func wideIntegers() throws {
        func read(high: Int64, low: Int64) throws -> PropertyListValue {
            try PropertyListValue.read(TestPlist.wide(high: high, low: low).binary, file: "list")
        }
        #expect(try read(high: 0, low: 7) == .integer(7))
        #expect(try read(high: -1, low: -7) == .integer(-7))
        // 2^63, and a number of more than 64 bits.
        for (high, low) in [(Int64(0), Int64.min), (1, 7)] {
            let error = #expect(throws: StoreError.self) { try read(high: high, low: low) }
            #expect(error?.code == .corrupted && error?.message.contains("outside the range of Int64") == true)
        }
    }

    @Test(
        "a compiled model with a decimal exponent out of range is corrupted",
        arguments: [Int64.max, .min, 128, -129, 1 << 40])
    func exponents(_ exponent: Int64) throws {
        var a = ArchiveWriter()
        let value = Self.decimal(&a, exponent: exponent)
        let bytes = Self.model(attributeFields: [("NSDefaultValue", value)], in: &a)
        #expect(try failure { try ModelCacheReader.read(archive: bytes, file: "m") }.code == .corrupted)

        var b = ArchiveWriter()
        let constant = b.object(
            "NSConstantValueExpression", fields: [("NSConstantValue", Self.decimal(&b, exponent: exponent))])
        let archive = try KeyedArchive(b.archive(constant), file: "m")
        #expect(try failure { try ArchivedExpression.expression(in: archive) }.code == .corrupted)
    }

    @Test("a decimal default with the greatest exponent is read from a compiled model")
    func lastExponent() throws {
        var a = ArchiveWriter()
        let value = Self.decimal(&a, exponent: 126)
        let bytes = Self.model(attributeFields: [("NSDefaultValue", value)], in: &a)
        let model = try ModelCacheReader.read(archive: bytes, file: "m").model
        #expect(model.entities[0].attributes[0].defaultValue == .decimal(try #require(Decimal(string: "1e127"))))
    }

    @Test("user info of a compiled model keeps texts and numbers, and warns of every other value")
    func userInfo() throws {
        var a = ArchiveWriter()
        let entityInfo = a.dictionary([
            ("text", a.string("t")), ("number", a.add(.int(-5))), ("flag", a.add(.bool(true))),
            ("list", a.list([a.string("x")])),
        ])
        let attributeInfo = a.dictionary([("date", a.add(.date(1)))])
        let bytes = Self.model(
            entityFields: [("NSUserInfo", entityInfo)], attributeFields: [("NSUserInfo", attributeInfo)], in: &a)
        let read = try ModelCacheReader.read(archive: bytes, file: "m")
        #expect(read.model.entities[0].declaration.userInfo == ["text": "t", "number": "-5", "flag": "1"])
        #expect(read.model.entities[0].declaration.attributes[0].userInfo == [:])
        let warnings = read.warnings.filter { $0.message.contains("user info") }.map { "\($0.element): \($0.message)" }
            .sorted()
        try #require(warnings.count == 2)
        #expect(warnings[0].hasPrefix("attribute 'E.a': user info 'date' is neither text nor a number"))
        #expect(warnings[1].hasPrefix("entity 'E': user info 'list' is neither text nor a number"))
    }

    @Test("a compiled model with many references to the same text is refused before its texts exceed the budget")
    func sharedText() throws {
        var a = ArchiveWriter()
        let text = a.string(String(repeating: "x", count: 100_000))
        let info = a.dictionary((0..<2000).map { ("k\($0)", text) })
        let bytes = Self.model(entityFields: [("NSUserInfo", info)], in: &a)
        #expect(bytes.count < 200_000)
        let budget = DecodingBudget()
        let archive = try KeyedArchive(bytes, file: "m", budget: budget)
        let error = try failure {
            var reader = ModelArchive(file: "m")
            try reader.read(try archive.rootObject())
        }
        #expect(error.code == .limitExceeded && error.message.contains("bytes of text"))
        #expect(budget.byteCount <= DecodingBudget.Limit.bytes)
    }

    @Test("a list with many references to the same data is refused")
    func sharedData() throws {
        var a = ArchiveWriter()
        let data = a.add(.data([UInt8](repeating: 1, count: 200_000)))
        let many = a.list((0..<300).map { _ in data })
        let dataList = try KeyedArchive(a.archive(many), file: "m")
        #expect(try failure { try dataList.rootObject().members() }.code == .limitExceeded)
    }

    @Test("ten levels of lists, each with ten references to the next, are refused")
    func sharedLists() throws {
        var b = ArchiveWriter()
        var list = b.list([b.string("x")])
        for _ in 0..<10 { list = b.list((0..<10).map { _ in list }) }
        let nested = try KeyedArchive(b.archive(list), file: "m")
        func walk(_ object: ArchivedObject) throws(StoreError) {
            for node in try object.members() { if let inner = node.object { try walk(inner) } }
        }
        #expect(try failure { try walk(try nested.rootObject()) }.code == .limitExceeded)
    }

    @Test("a class of 10 000 members that every object refers to is refused")
    func sharedClass() throws {
        var c = ArchiveWriter()
        let large = c.add(
            .dict((0..<10_000).map { ("k\($0)", .bool(true)) } + [("$classname", .string("NSNumber"))]))
        let objects = (0..<1000).map { _ in c.add(.dict([("$class", large)])) }
        let all = c.list(objects)
        let classes = try KeyedArchive(c.archive(all), file: "m")
        let error = try failure {
            for node in try classes.rootObject().members() { _ = try node.object?.className }
        }
        #expect(error.code == .limitExceeded)
    }

    @Test("a derivation expression of more than a mebibyte is refused")
    func longText() throws {
        var a = ArchiveWriter()
        let constant = a.object(
            "NSConstantValueExpression", fields: [("NSConstantValue", a.string(String(repeating: "x", count: 100_000)))]
        )
        let list = a.list((0..<12).map { _ in constant })
        let aggregate = a.object("NSAggregateExpression", fields: [("NSCollection", list)])
        let bytes = Self.model(attributeFields: [("NSDerivationExpression", aggregate)], in: &a)
        let error = try failure { try ModelCacheReader.read(archive: bytes, file: "m") }
        #expect(error.code == .limitExceeded && error.message.contains("expression"))
    }

    @Test("all archives of one mapping model share a limit")
    func mappingModel() throws {
        var a = ArchiveWriter()
        let constant = a.object(
            "NSConstantValueExpression", fields: [("NSConstantValue", a.string(String(repeating: "x", count: 20_000)))])
        let list = a.list((0..<100).map { _ in constant })
        let aggregate = a.object("NSAggregateExpression", fields: [("NSCollection", list)])
        let data = Data(a.archive(aggregate)).base64EncodedString()
        func file(_ count: Int) -> MappingFileText {
            var file = MappingFileText()
            let attributes = (0..<count).map { file.attribute("a\($0)", attributes: [("valueexpressiondata", data)]) }
            file.entity(from: "E", to: "E", number: 1, attributeMappings: attributes)
            return file
        }
        let few = try CoreDataMappingReader.read(xml: file(2).bytes, file: "f").mapping
        #expect(few.entityMappings[0].attributeMappings.count == 2)
        let error = try failure { try CoreDataMappingReader.read(xml: file(20).bytes, file: "f") }
        #expect(error.code == .limitExceeded)
    }

    @Test("a property list with many references to the same text is refused")
    func propertyList() throws {
        let text = TestPlist.string(String(repeating: "x", count: 100_000))
        let values = Self.sharing(text, count: 300) { .array($0) }
        #expect(try failure { try PropertyListValue.read(values, file: "p") }.code == .limitExceeded)
        let keys = Self.sharing(text, count: 300) { .array($0.map { _ in .dict([("", .bool(true))]) }) }
        #expect(try failure { try PropertyListValue.read(keys, file: "p") }.code == .limitExceeded)
    }

    /// Returns a property list in which each empty string of `list` is a reference to `text`.
    private static func sharing(
        _ text: TestPlist, count: Int, _ list: ([TestPlist]) -> TestPlist
    ) -> [UInt8] {
        // The writer shares no values, so each empty string gets the offset of the text here.
        let head = TestPlist.dict([("t", text), ("l", list((0..<count).map { _ in .string("") }))]).binary
        var bytes = head
        func big(at offset: Int, size: Int) -> Int { bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) } }
        let (objectCount, table) = (big(at: bytes.count - 24, size: 8), big(at: bytes.count - 8, size: 8))
        let offsets = (0..<objectCount).map { big(at: table + 4 * $0, size: 4) }
        guard let shared = offsets.first(where: { bytes[$0] == 0x5F }) else { return bytes }
        for (number, offset) in offsets.enumerated() where bytes[offset] == 0x50 {
            for byte in 0..<4 {
                bytes[table + 4 * number + byte] = UInt8(truncatingIfNeeded: shared >> (8 * (3 - byte)))
            }
        }
        return bytes
    }

    // MARK: Names

    private static let longName = String(repeating: "n", count: 3_000_000)

    @Test("an entity or attribute name of three megabytes is refused in a short message")
    func longNames() throws {
        func expect(_ error: StoreError, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(
                error.code == .invalidModel && error.message.contains("longer than 255 bytes"),
                sourceLocation: sourceLocation)
            #expect(error.message.utf8.count < 2000, sourceLocation: sourceLocation)
        }
        for (entity, attribute) in [(Self.longName, "a"), ("E", Self.longName)] {
            let xml =
                "<model><entity name=\"\(entity)\"><attribute name=\"\(attribute)\" attributeType=\"String\"/></entity></model>"
            expect(try failure { try CoreDataModelReader.read(xml: Array(xml.utf8), file: "f") })
            var a = ArchiveWriter()
            let archive = Self.model(entity: entity, attribute: attribute, in: &a)
            expect(try failure { try ModelCacheReader.read(archive: archive, file: "f") })
        }
    }

    @Test("errors and warnings about a name of 1.5 megabytes are short")
    func longReferences() throws {
        let name = String(repeating: "n", count: 1_500_000)
        let xml =
            "<model><entity name=\"E\"><relationship name=\"r\" destinationEntity=\"\(name)\" inverseName=\"\(name)\"/></entity></model>"
        let error = try failure { try CoreDataModelReader.read(xml: Array(xml.utf8), file: "f") }
        #expect(error.code == .invalidModel && error.message.utf8.count < 2000)
        #expect(error.message.contains("E.r: The model has no entity 'nnn"))
        let typed = "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"\(name)\"/></entity></model>"
        #expect(
            try failure { try CoreDataModelReader.read(xml: Array(typed.utf8), file: "f") }.message.utf8.count < 2000)
        let warned =
            "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"String\"/></entity><userInfo><entry key=\"\(name)\" value=\"1\"/><entry key=\"\(name)\" value=\"2\"/></userInfo></model>"
        let warnings = try CoreDataModelReader.read(xml: Array(warned.utf8), file: "f").warnings
        #expect(!warnings.isEmpty && warnings.allSatisfy { $0.description.utf8.count < 3000 })
    }
}
