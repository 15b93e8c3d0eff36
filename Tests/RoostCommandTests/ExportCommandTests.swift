import Foundation
import Testing

@Suite("roost export")
struct ExportCommandTests {
    private let model = """
        {"formatVersion": 1, "entities": {
          "Book": {
            "attributes": {
              "title": {"type": "string"}, "pages": {"type": "integer64"}, "weight": {"type": "double"},
              "price": {"type": "decimal"}, "isRead": {"type": "boolean"}, "bought": {"type": "date"}, "code": {"type": "uuid"},
              "link": {"type": "uri"}, "cover": {"type": "binaryData"},
              "maker": {"type": "composite", "elements": {"city": {"type": "string"}}}},
            "relationships": {"shelf": {"destination": "Shelf", "inverse": "books", "maxCount": 1}}},
          "Shelf": {"attributes": {"name": {"type": "string"}}, "relationships": {"books": {"destination": "Book", "inverse": "shelf"}}}}}
        """
    private let books = #"""
        {"title": "a, \"b\"\t\nc", "pages": -12, "weight": 0.1, "price": "0.10", "isRead": true, "bought": "2024-05-01T12:30:00.25Z", "code": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "link": "http://a.b/?c=d", "cover": "AAH/", "maker.city": "Rome", "shelf": 1}
        {"title": "", "weight": -1e-300}
        {}
        """#

    private func workplace() throws -> Workplace {
        let place = try Workplace()
        try place.write(Data(model.utf8), to: "model.json")
        try place.write(Data("name\nTop\n".utf8), to: "shelves.csv")
        let made = try place.roost("import", "shelves.csv", "sqlite:books", "--entity=Shelf", "--model=model.json")
        try #require(made.code == 0, "\(made.errors)")
        try place.write(Data(books.utf8), to: "books.jsonl")
        let filled = try place.roost("import", "books.jsonl", "books", "--entity=Book")
        try #require(filled.code == 0, "\(filled.errors)")
        return place
    }

    @Test("an export to CSV has the key and every value of each object")
    func csv() throws {
        let result = try workplace().roost("export", "books", "Book")
        #expect(
            result.output == """
                id,bought,code,cover,isRead,link,maker.city,pages,price,title,weight,shelf
                1,2024-05-01T12:30:00.25Z,6BA7B810-9DAD-11D1-80B4-00C04FD430C8,AAH/,true,http://a.b/?c=d,Rome,-12,0.1,"a, ""b""\t
                c",0.1,1
                2,,,,,,,,,"",-1e-300,
                3,,,,,,,,,,,

                """, "\(result.output)")
        #expect(result.code == 0 && result.errors.isEmpty)
    }

    @Test("an export that is imported again exports the same text", arguments: ["csv", "tsv", "jsonl"])
    func roundTrip(format: String) throws {
        let place = try workplace()
        let text = try place.roost("export", "books", "Book", "--format=\(format)").output
        try place.write(Data(text.utf8), to: "again.\(format)")
        try #require(
            try place.roost("import", "shelves.csv", "lmdb:copy", "--entity=Shelf", "--model=model.json").code == 0)
        let imported = try place.roost("import", "again.\(format)", "copy", "--entity=Book", "--without=id")
        #expect(imported.code == 0, "\(imported.errors)")
        #expect(try place.roost("export", "copy", "Book", "--format=\(format)").output == text)
    }

    @Test(
        "an export of one column that is imported again keeps the objects without a value",
        arguments: ["csv", "tsv"], ["title", "shelf.name AS title"])
    func oneColumn(format: String, column: String) throws {
        let place = try workplace()
        let text = try place.roost("export", "books", "Book", "--select=\(column)", "--format=\(format)").output
        try place.write(Data(text.utf8), to: "titles.\(format)")
        try #require(try place.roost("import", "titles.\(format)", "sqlite:titles", "--entity=Book").code == 0)
        #expect(try place.roost("fetch", "titles", "Book", "--count").output == "3\n")
        #expect(try place.roost("export", "titles", "Book", "--select=title", "--format=\(format)").output == text)
    }

    @Test("an export names left-out to-many relationships, and writes selected columns")
    func columns() throws {
        let place = try workplace()
        let shelves = try place.roost("export", "books", "Shelf")
        #expect(shelves.output == "id,name\n1,Top\n")
        #expect(shelves.errors == "roost: note: to-many relationships are left out: books\n")
        let chosen = try place.roost(
            "export", "books", "Book", "--select=shelf.name AS shelf, pages * 2 AS twice", "--format=tsv", "--limit=2")
        #expect(chosen.output == "shelf\ttwice\nTop\t-24\n\t\n", "\(chosen.output) \(chosen.errors)")
        try place.roost("export", "books", "Book", "--format=table").expectError(2, containing: "csv, tsv, jsonl")
    }

    @Test("an export of an entity that has a property 'id' writes that property instead of the key")
    func propertyCalledID() throws {
        let place = try Workplace()
        try place.write(Data("id,kind\n7,x\n".utf8), to: "rows.csv")
        try #require(try place.roost("import", "rows.csv", "sqlite:rows").code == 0)
        #expect(try place.roost("export", "rows", "Rows").output == "id,kind\n7,x\n")
    }
}
