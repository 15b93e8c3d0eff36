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

    @Test("columns match properties by source, name, or name without case and signs")
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

    @Test(
        "a row that the model forbids ends the import with its place and reason",
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

    @Test("faulty rows are left out, counted, and reported if asked")
    func faultyRows() throws {
        var bench = ImportBench { $0.faultyRows = .report }
        bench.model = try model([.integer16("n", isOptional: false)])
        let text = "n\n1\nx\n2,3\n\"\"\n4\n"
        #expect(try bench.rows(text) == [["n": 1], ["n": 4]])
        #expect(bench.reports.withLock { $0.count } == 3)
        bench.options.faultyRows = .skip
        let content = try bench.content(Array(text.utf8))
        let store = try ImportBench.store(content.model)
        let result = try content.insert(into: store)
        #expect(content.warnings() == ["3 rows were left out."] && result.inserted == 2)
        #expect(try ImportBench.values(of: "Row", in: store) == [["n": 1], ["n": 4]])
    }

    @Test("a row with an existing key updates its object, and the last row wins")
    func keys() throws {
        let bench = ImportBench { $0.key = ["id"] }
        let store = try bench.store(Array("id,a\n1,x\n2,y\n1,z\n".utf8))
        #expect(try ImportBench.values(of: "Row", in: store) == [["id": 1, "a": "z"], ["id": 2, "a": "y"]])
        var again = ImportBench { $0.key = ["id"] }
        again.model = store.model
        let result = try again.content(Array("id,a\n2,new\n3,w\n".utf8)).insert(into: store)
        #expect(result.rows == 2 && result.inserted == 1)
        #expect(
            try ImportBench.values(of: "Row", in: store) == [
                ["id": 1, "a": "z"], ["id": 2, "a": "new"], ["id": 3, "a": "w"],
            ])
        again.model = try model([.integer64("id")])
        #expect(again.message("id\n1\n").hasPrefix("'Row' has no uniqueness constraint of 'id'"))
    }

    @Test("a column names related objects by a value, and missing ones are inserted")
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

    @Test("a column names other rows by their key, in any order")
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

    @Test("an option that names a missing column or another entity is refused")
    func columnsOfOptions() throws {
        let parts = ImportBench { $0.key = ["id"] }
        let store = try parts.store(Array("id,a\n1,x\n".utf8))
        func message(_ text: String, _ configure: (inout TextImportOptions) -> Void) -> String {
            var bench = ImportBench(configure)
            bench.model = store.model
            do {
                _ = try bench.content(Array(text.utf8)).insert(into: store)
                return "no error"
            } catch { return (error as? StoreError)?.message ?? "\(error)" }
        }
        #expect(message("a\nx\n") { $0.key = ["id"] }.hasPrefix("The text has no column 'id'"))
        #expect(message("id\n2\n") { $0.leftOut = ["zork"] }.hasPrefix("The text has no column 'zork'"))
        let lines = message("{\"a\": \"y\"}") {
            $0.key = ["id"]
            $0.format = .jsonl
        }
        #expect(lines == "'rows', line 1: the row has no value for each column of the key.")
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

    @Test("a file that another program changes ends the import as a conflict")
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
