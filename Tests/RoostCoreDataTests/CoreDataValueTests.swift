import RoostCore

#if SQLite
    import Foundation
    @testable import RoostCoreData
    import Testing

    @Suite("Values in Core Data stores")
    struct CoreDataValueTests {
        static func model(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Item", attributes: attributes)])
        }

        /// Returns a store with one column, and one row for each value, with keys from 1.
        static func store(column: String, type: String, values: [String]) throws -> AppleStore {
            let rows = values.enumerated().map { "INSERT INTO ZITEM VALUES (\($0 + 1), 1, 1, \($1));" }.joined()
            return try AppleStore(
                ["Item"],
                sql:
                    "CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(column) \(type)); \(rows)"
            )
        }

        static func values(of type: AttributeType, declared: String, texts: [String]) throws -> [Value] {
            let store = try store(column: "ZA", type: declared, values: texts).opened(
                try model(AttributeDescription("a", type: type)))
            let objects = try store.snapshot().objects("Item")
            return try (1...texts.count).map { try #require(objects[Int64($0)])["a"] ?? .null }
        }

        @Test("integers and booleans of a Core Data store keep their values and null")
        func integers() throws {
            #expect(
                try Self.values(
                    of: .integer64, declared: "INTEGER", texts: ["9223372036854775807", "-9223372036854775808", "NULL"])
                    == [
                        .int(.max), .int(.min), .null,
                    ])
            #expect(
                try Self.values(of: .integer16, declared: "INTEGER", texts: ["-32768", "5.0"]) == [
                    .int(-32768), .int(5),
                ])
            #expect(
                try Self.values(of: .boolean, declared: "INTEGER", texts: ["0", "1", "NULL"]) == [
                    .bool(false), .bool(true), .null,
                ])
        }

        @Test("dates of a Core Data store are read as seconds since 2001")
        func dates() throws {
            let found = try Self.values(of: .date, declared: "TIMESTAMP", texts: ["500000000", "1.25", "-978307200"])
            #expect(found == [500_000_000, 1.25, -978_307_200].map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
        }

        @Test("decimals of a Core Data store are read from integers, reals and text")
        func decimals() throws {
            let found = try Self.values(of: .decimal, declared: "DECIMAL", texts: ["42", "0.1", "1e30", "NULL"])
            let expected = try ["42", "0.1", "1000000000000000000000000000000"].map {
                Value.decimal(try #require(Decimal(string: $0)))
            }
            #expect(found == expected + [.null])
            #expect(
                try Self.values(of: .decimal, declared: "BLOB", texts: ["'-0.5000'"]) == [
                    .decimal(try #require(Decimal(string: "-0.5")))
                ])
        }

        @Test("numbers, strings, URIs, UUIDs and binary data of a Core Data store are read")
        func numbersTextAndBytes() throws {
            #expect(
                try Self.values(of: .double, declared: "FLOAT", texts: ["0.1", "3", "9e999"]) == [
                    .double(0.1), .double(3), .double(.infinity),
                ])
            #expect(try Self.values(of: .float, declared: "FLOAT", texts: ["0.5"]) == [.double(0.5)])
            #expect(
                try Self.values(of: .string, declared: "VARCHAR", texts: ["'ä😀'", "''", "7"]) == [
                    .string("ä😀"), .string(""), .string("7"),
                ])
            #expect(
                try Self.values(of: .uri, declared: "VARCHAR", texts: ["'https://example.org/a b'"]) == [
                    .uri("https://example.org/a b")
                ])
            let uuid = try #require(UUID(uuidString: AppleStore.uuid))
            #expect(
                try Self.values(of: .uuid, declared: "BLOB", texts: ["x'3F2504E04F8941D39A0C0305E82C3301'"]) == [
                    .uuid(uuid)
                ])
            #expect(
                try Self.values(of: .transformable, declared: "BLOB", texts: ["x'62706c697374'", "x''"]) == [
                    .data(Data("bplist".utf8)), .data(Data()),
                ])
            #expect(try Self.values(of: .binaryData, declared: "BLOB", texts: ["x'0102'"]) == [.data(Data([1, 2]))])
        }

        @Test(
            "a value that its attribute cannot hold causes an error with the object's ID, and other objects are read",
            arguments: [
                (AttributeType.integer16, "INTEGER", "1", "70000"), (.date, "TIMESTAMP", "1", "x'00'"),
                (.uuid, "BLOB", "NULL", "x'0011'"),
                (.string, "VARCHAR", "'a'", "CAST(x'ff' AS TEXT)"), (.decimal, "DECIMAL", "1", "9e200"),
                (.integer64, "INTEGER", "1", "0.5"),
            ])
        func damagedValue(type: AttributeType, declared: String, good: String, bad: String) throws {
            let model = try Self.model(AttributeDescription("a", type: type))
            let store = try Self.store(column: "ZA", type: declared, values: [good, bad, good]).opened(model)
            let cursor = try store.snapshot().records(of: "Item", after: nil)
            var batch = RecordBatch(model: model)
            #expect(try cursor.next(into: &batch) && batch.count == 1)
            let error = try failure { try cursor.next(into: &batch) }
            #expect(error.code == .corrupted && error.damagedObject == ObjectID("Item", key: 2))
            #expect(!error.message.contains("70000"))
            #expect(try cursor.next(into: &batch) && batch.key(at: 0) == 3)
            #expect(try !cursor.next(into: &batch))
        }

        @Test("binary data are read inline or from their files, and a missing file is reported")
        func externalData() throws {
            var attribute = AttributeDescription("photo", type: .binaryData)
            attribute.allowsExternalBinaryDataStorage = true
            let present = "11111111-2222-3333-4444-555555555555"
            let missing = "99999999-2222-3333-4444-555555555555"
            func reference(_ name: String) -> String { AppleStore.hex([2] + Array(name.utf8) + [0]) }
            let store = try Self.store(
                column: "ZPHOTO", type: "BLOB",
                values: ["x'01cafe'", reference(present), reference(missing), "NULL", "x'01'", "x''"])
            try store.directory.write("large", to: ".Store_SUPPORT/_EXTERNAL_DATA/\(present)")
            let opened = try store.opened(try Self.model(attribute))
            let objects = try opened.snapshot().objects("Item")
            let photos: [Value] = (1...6).map { objects[$0]?["photo"] ?? .null }
            #expect(
                photos == [
                    .data(Data([0xCA, 0xFE])), .data(Data("large".utf8)), .null, .null, .data(Data()), .data(Data()),
                ])
            let findings = try opened.integrityFindings()
            #expect(findings.count == 1)
            #expect(
                findings.first?.severity == .warning
                    && findings.first?.message.hasPrefix("1 values of 'Item.photo'") == true)
            #expect(try opened.byteCount() > 5)
        }

        @Test("an external data file that is a symbolic link damages only its object")
        func linkedExternalData() throws {
            var attribute = AttributeDescription("photo", type: .binaryData)
            attribute.allowsExternalBinaryDataStorage = true
            let name = "11111111-2222-3333-4444-555555555555"
            let store = try Self.store(
                column: "ZPHOTO", type: "BLOB",
                values: [AppleStore.hex([2] + Array(name.utf8) + [0]), "x'01cafe'"])
            try store.directory.write("outside", to: "outside")
            try store.directory.write("", to: ".Store_SUPPORT/_EXTERNAL_DATA/other")
            try FileManager.default.createSymbolicLink(
                atPath: "\(store.directory.path)/.Store_SUPPORT/_EXTERNAL_DATA/\(name)",
                withDestinationPath: "\(store.directory.path)/outside")
            let model = try Self.model(attribute)
            let cursor = try store.opened(model).snapshot().records(of: "Item", after: nil)
            var batch = RecordBatch(model: model)
            let error = try failure { try cursor.next(into: &batch) }
            #expect(error.code == .corrupted && error.damagedObject == ObjectID("Item", key: 1))
            #expect(try cursor.next(into: &batch) && batch.key(at: 0) == 2)
        }

        @Test("a reference to an external data file cannot be a path")
        func externalTraversal() throws {
            var attribute = AttributeDescription("photo", type: .binaryData)
            attribute.allowsExternalBinaryDataStorage = true
            let name = "../../../../../../../../../etc/passwd\0"
            let store = try Self.store(
                column: "ZPHOTO", type: "BLOB", values: [AppleStore.hex([2] + Array(name.utf8.prefix(37)))]
            ).opened(
                try Self.model(attribute))
            #expect(try failure { try store.snapshot().objects("Item") }.code == .corrupted)
        }

        @Test("derived and composite attributes are read from columns, and transient ones have none")
        func derivedAndComposite() throws {
            let model = try ManagedObjectModel(entities: [
                EntityDescription(
                    "Item",
                    attributes: [
                        AttributeDescription("name", type: .string),
                        AttributeDescription("lower", type: .string).with {
                            $0.derivationExpression = "lowercase:(name)"
                        },
                        AttributeDescription("scratch", type: .string).with { $0.isTransient = true },
                        AttributeDescription(
                            "place", type: .composite,
                            elements: [
                                AttributeDescription("x", type: .double), AttributeDescription("y", type: .double),
                            ]),
                    ])
            ])
            let store = try AppleStore(
                ["Item"],
                sql: """
                    CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPLACE_X FLOAT, ZPLACE_Y FLOAT, ZLOWER VARCHAR, ZNAME VARCHAR);
                    INSERT INTO ZITEM VALUES (1, 1, 1, 0.5, NULL, 'a', 'A'), (2, 1, 1, NULL, NULL, NULL, NULL);
                    """)
            let objects = try store.opened(model).snapshot().objects("Item")
            #expect(objects == [1: ["name": "A", "lower": "a", "place": .composite(["x": .double(0.5)])], 2: [:]])
        }
    }

    extension AppleStore {
        func opened(_ model: ManagedObjectModel?) throws -> OpenedStore {
            OpenedStore(files: self, store: try open(model))
        }
    }

    /// An open store together with the files it needs.
    struct OpenedStore {
        let files: AppleStore
        let store: CoreDataStore

        func snapshot() throws -> any StoreSnapshot { try store.snapshot() }
        func integrityFindings() throws -> [StoreFinding] { try store.integrityFindings() }
        func byteCount() throws -> Int { try store.byteCount() }
    }
#endif
