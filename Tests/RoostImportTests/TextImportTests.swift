import Foundation
import Roost
import RoostCore
import RoostMigration
import Testing

@testable import RoostImport

@Suite("Rows imported as objects")
struct TextImportTests {
    private func model(_ attributes: [AttributeDescription], unique: [String] = []) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription("Row", attributes: attributes, uniquenessConstraints: unique.map { [$0] })
        ])
    }

    @Test("columns match properties by importedFrom, by name, or by name without case, spaces and underscores")
    func givenModel() throws {
        var bench = ImportBench()
        var year = AttributeDescription.integer16("year")
        year.userInfo = ["importedFrom": "Released in"]
        bench.model = try model([year, .string("firstName"), .boolean("isNew"), .decimal("price")])
        #expect(
            try bench.rows("Released in,First Name,is_new,price\n1971.0,Joni,yes,9.90\n") == [
                ["year": 1971, "firstName": "Joni", "isNew": true, "price": .decimal(Decimal(string: "9.9") ?? 0)]
            ])
    }

    @Test("whole numbers with a fraction of zeros are read in the whole range of the type")
    func fractionsOfZeros() throws {
        var bench = ImportBench()
        bench.model = try model([.integer64("n")])
        let rows = try bench.rows("n\n-9223372036854775808.0\n9223372036854775807.0\n-0.0\n")
        #expect(rows == [["n": .int(.min)], ["n": .int(.max)], ["n": 0]])
    }

    @Test("a missing column gets the default value, and an empty cell null")
    func defaults() throws {
        var bench = ImportBench()
        bench.model = try model([
            .string("a", default: "x"), .integer64("b", default: 7), .string("c"), .string("d", default: "y"),
        ])
        #expect(
            try bench.rows("c,a\n1,\n2,z\n") == [
                ["b": 7, "c": "1", "d": "y"], ["a": "z", "b": 7, "c": "2", "d": "y"],
            ])
        bench.options.format = .jsonl
        #expect(
            try bench.rows("{\"c\": \"1\"}\n{\"a\": null}") == [
                ["a": "x", "b": 7, "c": "1", "d": "y"], ["b": 7, "d": "y"],
            ])
    }

    @Test("infinities and NaN are read as an export writes them")
    func specialNumbers() throws {
        var bench = ImportBench()
        bench.model = try model([
            .double("d"), AttributeDescription("f", type: .float), .decimal("c"),
        ])
        let text = "d,f,c\nNaN,Infinity,NaN\n-Infinity,NaN,1\nNaN:7ff8000000000001,NaN:7fc00001,\n"
        #expect(
            try bench.rows(text) == [
                ["d": .double(.nan), "f": .double(.infinity), "c": .decimal(.nan)],
                ["d": .double(-.infinity), "f": .double(.nan), "c": .decimal(1)],
                [
                    "d": .double(Double(bitPattern: 0x7ff8_0000_0000_0001)),
                    "f": .double(Double(Float(bitPattern: 0x7fc0_0001))),
                ],
            ])
    }

    @Test("an import with a given model counts the dates whose offset from UTC is not kept")
    func offsets() throws {
        var bench = ImportBench { $0.faultyRows = .skip }
        bench.model = try model([AttributeDescription("when", type: .date), .integer16("n")])
        let rows = ["when,n", "2024-05-01T12:30:00+02:00,1", "2024-05-01T12:30:00Z,2", "2024-05-01T12:30:00-01:00,x"]
        let text = Array(rows.joined(separator: "\n").utf8)
        let warnings = [
            "Column 'when': 1 time with an offset from UTC is kept as a time in UTC.", "1 row was left out.",
        ]
        let inserted = try bench.content(text)
        #expect(try inserted.insert(into: try ImportBench.store(inserted.model)).rows == 2)
        #expect(inserted.warnings() == warnings)
        let sent = try bench.content(text)
        _ = try MigrationManager(registry: .standard).make(
            .store(try ImportBench.store(sent.model)), of: sent, named: "rows")
        #expect(sent.warnings() == warnings)
        let examined = try bench.content(text)
        #expect(try examined.look() == 2)
        #expect(examined.warnings() == warnings)
    }

    @Test(
        "the error for a row or column that the model forbids gives the place and the reason",
        arguments: [
            (
                "n\n1\n70000\n",
                "'rows', line 3: column 'n' has '70000', which is not a whole number from -32768 to 32767."
            ),
            ("n,s\n1,toolong\n", "'rows', line 2: 's' is longer than its maximum length."),
            ("n,s\n,a\n", "'rows', line 2: 'n' is mandatory and has no value."),
            ("n,x\n1,2\n", "Entity 'Row' has no property for the column 'x' of 'rows'"),
        ])
    func refusals(text: String, message: String) throws {
        var bench = ImportBench()
        bench.model = try model([.integer16("n", isOptional: false), .string("s", maximumLength: 5)])
        #expect(bench.message(text).hasPrefix(message), "\(bench.message(text))")
        let store = try ImportBench.store(try #require(bench.model))
        #expect { try bench.content(Array(text.utf8)).insert(into: store) } throws: { error in
            (error as? StoreError)?.message.hasPrefix(message) == true
        }
    }

    @Test("faulty rows are left out and reported if the option for it is set")
    func reportedRows() throws {
        var bench = ImportBench { $0.faultyRows = .report }
        bench.model = try model([.integer16("n", isOptional: false)])
        #expect(try bench.rows("n\n1\nx\n2,3\n\"\"\n4\n") == [["n": 1], ["n": 4]])
        #expect(bench.reports.withLock { $0.count } == 3)
    }

    @Test("faulty rows that are skipped are counted in a warning")
    func skippedRows() throws {
        var bench = ImportBench { $0.faultyRows = .skip }
        bench.model = try model([.integer16("n", isOptional: false)])
        let content = try bench.content(Array("n\n1\nx\n2,3\n\"\"\n4\n".utf8))
        let store = try ImportBench.store(content.model)
        let result = try content.insert(into: store)
        #expect(content.warnings() == ["3 rows were left out."] && result.inserted == 2)
        #expect(try ImportBench.values(of: "Row", in: store) == [["n": 1], ["n": 4]])
    }

    @Test("a later row with an existing key updates the object of the earlier one")
    func keys() throws {
        let store = try ImportBench { $0.key = ["id"] }.store(Array("id,a\n1,x\n2,y\n1,z\n".utf8))
        #expect(try ImportBench.values(of: "Row", in: store) == [["id": 1, "a": "z"], ["id": 2, "a": "y"]])
    }

    @Test("a row whose key exists in the store updates the stored object, and other rows are inserted")
    func keysOfStore() throws {
        let store = try ImportBench { $0.key = ["id"] }.store(Array("id,a\n1,z\n2,y\n".utf8))
        var bench = ImportBench { $0.key = ["id"] }
        bench.model = store.model
        let result = try bench.content(Array("id,a\n2,new\n3,w\n".utf8)).insert(into: store)
        #expect(result.rows == 2 && result.inserted == 1)
        #expect(
            try ImportBench.values(of: "Row", in: store) == [
                ["id": 1, "a": "z"], ["id": 2, "a": "new"], ["id": 3, "a": "w"],
            ])
    }

    @Test("a key without a uniqueness constraint in the model is refused")
    func keyWithoutConstraint() throws {
        var bench = ImportBench { $0.key = ["id"] }
        bench.model = try model([.integer64("id")])
        #expect(bench.message("id\n1\n").hasPrefix("'Row' has no uniqueness constraint of 'id'"))
    }

    @Test("a relation column names related objects by an attribute's value, and missing objects are inserted")
    func relations() throws {
        let bench = ImportBench { $0.relations = [.init(column: "artist", entity: "Artist", attribute: "name")] }
        let names = (0..<5000).map { "A\($0 % 2500)" }
        let text = "title,artist\n" + names.enumerated().map { "t\($0.offset),\($0.element)\n" }.joined() + "none,\n"
        let store = try bench.store(Array(text.utf8))
        let artists = try ImportBench.records(of: "Artist", in: store)
        #expect(artists.count == 2500)
        let rows = try ImportBench.values(of: "Row", in: store)
        #expect(rows.count == 5001 && rows.last == ["title": "none"])
        let byID = Dictionary(uniqueKeysWithValues: try artists.map { (Value.objectID($0.id), try $0.value("name")) })
        #expect(try zip(rows, names).allSatisfy { row, name in byID[try #require(row["artist"])] == .string(name) })
    }

    @Test("a relation column finds objects by the value of a 32-bit float attribute")
    func floatRelation() throws {
        var bench = ImportBench { $0.relations = [.init(column: "weight", entity: "Weight", attribute: "kilograms")] }
        bench.model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Row", attributes: [.string("name")], relationships: [.toOne("weight", to: "Weight")]),
            EntityDescription("Weight", attributes: [AttributeDescription("kilograms", type: .float)]),
        ])
        let store = try bench.store(Array("name,weight\na,4.1\nb,0.1\nc,4.1\n".utf8))
        #expect(try ImportBench.records(of: "Weight", in: store).count == 2)
        let weights = try ImportBench.values(of: "Row", in: store).map { $0["weight"] }
        #expect(weights[0] == weights[2] && weights[0] != weights[1] && !weights.contains(nil))
    }

    @Test("a relation column can name rows of the same text by their key, in any order")
    func ownRelations() throws {
        var bench = ImportBench { $0.relations = [.init(column: "parent", entity: "Row", attribute: "name")] }
        let text = "name,parent\na,b\nb,c\nc,\n"
        #expect(bench.message(text).contains("--key=name"))
        bench.options.key = ["name"]
        let store = try bench.store(Array(text.utf8))
        let rows = try ImportBench.records(of: "Row", in: store)
        let names = Dictionary(uniqueKeysWithValues: try rows.map { (Value.objectID($0.id), try $0.value("name")) })
        let parents = try rows.map { [try $0.value("name"), names[try $0.value("parent")] ?? .null] }
        #expect(parents.sorted { "\($0)" < "\($1)" } == [["a", "b"], ["b", "c"], ["c", .null]])
    }

    @Test("a relationship between rows records its column's name if the relationship has a different name")
    func renamedOwnRelation() throws {
        let bench = ImportBench {
            $0.key = ["name"]
            $0.relations = [.init(column: "parent/row", entity: "Row", attribute: "name")]
        }
        let model = try bench.content(Array("name,parent/row\na,\n".utf8)).model
        let relationships = try #require(model.entity("Row")).relationships
        #expect(relationships.compactMap { $0.declaration.userInfo["importedFrom"] } == ["parent/row"])
    }

    @Test("the inverse of an inferred relationship differs in name from every column and attribute")
    func inverseNames() throws {
        let own = ImportBench {
            $0.key = ["name"]
            $0.relations = [.init(column: "parent", entity: "Row", attribute: "name")]
        }
        let row = try #require(try own.content(Array("name,parent,parents\na,,2\n".utf8)).model.entity("Row"))
        #expect(row.attribute("parents") != nil && row.relationship("parents2") != nil)
        // The names of properties have no blanks at their ends.
        let blank = try #require(try own.content(Array("name,parent, parents\na,,2\n".utf8)).model.entity("Row"))
        #expect(blank.attribute("parents") != nil && blank.relationship("parents2") != nil)
        let other = ImportBench { $0.relations = [.init(column: "a", entity: "Other", attribute: "rows")] }
        let related = try #require(try other.content(Array("a,b\nx,1\n".utf8)).model.entity("Other"))
        #expect(related.attribute("rows") != nil && related.relationship("rows2") != nil)
    }

    /// Returns the message of the error that ends an import into a store with one row.
    private func message(
        importing text: String, _ configure: (inout TextImportOptions) -> Void
    ) throws -> String {
        let store = try ImportBench { $0.key = ["id"] }.store(Array("id,a\n1,x\n".utf8))
        var bench = ImportBench(configure)
        bench.model = store.model
        do {
            _ = try bench.content(Array(text.utf8)).insert(into: store)
            return "no error"
        } catch { return (error as? StoreError)?.message ?? "\(error)" }
    }

    @Test("an option that names a missing column is refused")
    func columnsOfOptions() throws {
        #expect(try message(importing: "a\nx\n") { $0.key = ["id"] }.hasPrefix("The text has no column 'id'"))
        #expect(
            try message(importing: "id\n2\n") { $0.leftOut = ["zork"] }.hasPrefix("The text has no column 'zork'"))
    }

    @Test("a row of JSON without a value for the key is refused")
    func missingKeyOfJSON() throws {
        let message = try message(importing: "{\"a\": \"y\"}") {
            $0.key = ["id"]
            $0.format = .jsonl
        }
        #expect(message == "'rows', line 1: the row lacks a column of the key.")
    }

    @Test("a relation column is refused if its entity is not the relationship's destination")
    func wrongRelation() throws {
        var related = ImportBench { $0.relations = [.init(column: "a", entity: "Other", attribute: "n")] }
        related.model = try ManagedObjectModel(entities: [
            EntityDescription("Row", relationships: [.toOne("a", to: "Right")]),
            EntityDescription("Right", attributes: [.string("n")]),
            EntityDescription("Other", attributes: [.string("n")]),
        ])
        #expect(related.message("a\nx\n") == "'Row.a' refers to objects of 'Right', not of 'Other'.")
    }

    @Test("a row without a value for its key is refused")
    func missingKeys() throws {
        let bench = ImportBench { $0.key = ["id"] }
        #expect(
            bench.message("id,a\n1,x\n,y\n") == "'rows', line 3: column 'id' is a part of the key and has no value.")
    }

    @Test("an import into an existing store inserts all rows or none")
    func allOrNothing() throws {
        var bench = ImportBench()
        bench.model = try model([.integer64("n")])
        let store = try bench.store(Array("n\n1\n".utf8))
        let text = "n\n" + (0..<3000).map { "\($0)\n" }.joined() + "x\n"
        #expect(throws: StoreError.self) { try bench.content(Array(text.utf8)).insert(into: store) }
        #expect(try ImportBench.values(of: "Row", in: store) == [["n": 1]])
        let result = try bench.content(Array("n\n2\n3\n".utf8)).insert(into: store)
        #expect(result.rows == 2 && result.inserted == 2)
        #expect(try ImportBench.values(of: "Row", in: store) == [["n": 1], ["n": 2], ["n": 3]])
    }

    @Test("columns with equal names become numbered properties")
    func repeatedNames() throws {
        let header = "a,a.b,a_b,A" + String(repeating: ",a", count: 10)
        let row = "1,2,3,4," + (5...14).map { "\($0)" }.joined(separator: ",")
        let found = try #require(try ImportBench().rows("\(header)\n\(row)\n").first)
        #expect(found["a"] == 1 && found["a_b"] == 2 && found["a_b_2"] == 3 && found["A_2"] == 4 && found["a_3"] == 5)
        #expect(found["a_12"] == 14 && found.count == 14)
    }

    @Test("an import fails with a conflict if another program changes the file")
    func changedFile() throws {
        let path = NSTemporaryDirectory() + "/roost-import-\(UUID().uuidString).csv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("a\n1\n".utf8).write(to: URL(fileURLWithPath: path))
        let content = try TextImport(
            try ImportInput(path: path), options: TextImportOptions(entity: "Row", format: .csv), model: nil,
            faults: FaultyRowList(.stop) { _ in }
        ) {}
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("2\n".utf8))
        try handle.close()
        let store = try ImportBench.store(content.model)
        #expect {
            _ = try MigrationManager(registry: .standard).make(.store(store), of: content, named: path)
        } throws: { ($0 as? StoreError)?.code == .conflict }
    }
}
