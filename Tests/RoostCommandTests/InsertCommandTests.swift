import Foundation
import Roost
import Testing

@Suite("roost insert")
struct InsertCommandTests {
    private let model = """
        {"formatVersion": 1, "entities": {
          "Book": {
            "attributes": {
              "title": {"type": "string", "isOptional": false}, "pages": {"type": "integer16"},
              "weight": {"type": "double"}, "price": {"type": "decimal"}, "isRead": {"type": "boolean", "defaultValue": false},
              "bought": {"type": "date"}, "code": {"type": "uuid"}, "link": {"type": "uri"}, "cover": {"type": "binaryData"},
              "maker": {"type": "composite", "elements": {"city": {"type": "string"}}}},
            "relationships": {
              "shelf": {"destination": "Shelf", "inverse": "books", "maxCount": 1},
              "next": {"destination": "Book", "maxCount": 1}},
            "uniquenessConstraints": [["title"]]},
          "Comic": {"superentity": "Book"},
          "Shelf": {"attributes": {"name": {"type": "string"}}, "relationships": {"books": {"destination": "Book", "inverse": "shelf"}}}}}
        """

    private func makeStore(_ type: String) throws -> Workplace {
        let place = try Workplace()
        let model = try ManagedObjectModel(document: Array(model.utf8))
        try StoreRegistry.standard.create(StoreLocation(type: type, path: place.file("books")), model: model).close()
        return place
    }

    @Test("an insert takes values of every type and prints the object's ID", arguments: Workplace.fileTypes)
    func values(type: String) throws {
        let place = try makeStore(type)
        let shelf = try place.roost("insert", "books", "Shelf", "name=a = \"b\"")
        #expect(shelf.code == 0 && shelf.output == "Shelf/p1\n", "\(shelf.errors)")
        let book = try place.roost(
            "insert", "books", "Book", "title=One", "pages=-12", "weight=1e-3", "price=0.10", "isRead=YES",
            "bought=2024-05-01T12:30:00+02:00", "code=6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "link=http://a.b/?c=d",
            "cover=AAH/", "maker.city=", "shelf=1")
        #expect(book.code == 0 && book.output == "Book/p1\n", "\(book.errors)")
        let comic = try place.roost("insert", "books", "Comic", "title=Two", "next=Book/p1", "shelf=Shelf/1", "--json")
        let json = try comic.json()
        // The key can exceed 2: some stores skip keys that an earlier program reserved but did not use.
        let key = try #require(json["key"] as? Int)
        #expect(json["id"] as? String == "Comic/p\(key)" && json["entity"] as? String == "Comic" && key > 1)
        let found = try place.roost("fetch", "books", "Book", "--format=jsonl", "--sort=title")
        #expect(
            found.output == """
                {"entity": "Book", "id": 1, "version": 1, "bought": 736252200.0, "code": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "cover": "AAH/", "isRead": true, "link": "http://a.b/?c=d", "maker": {"city": ""}, "pages": -12, "price": "0.1", "shelf": 1, "title": "One", "weight": 0.001}
                {"entity": "Comic", "id": \(key), "version": 1, "isRead": false, "next": "Book/1", "shelf": 1, "title": "Two"}

                """, "\(found.output)")
        #expect(
            try place.roost("fetch", "books", "Shelf", "--select=name", "--format=jsonl").output.contains(
                "a = \\\"b\\\""))
        #expect(try place.roost("check", "books").code == 0)
    }

    @Test(
        "an insert with a wrong argument names it and adds no object",
        arguments: [
            (["Bok"], 2, "did you mean 'Book'?"), (["Book", "title"], 2, "write NAME=VALUE"),
            (["Book", "=x"], 2, "write NAME=VALUE"), (["Book", "titel=x"], 2, "did you mean 'title'?"),
            (["Book", "title=x", "title=y"], 2, "given twice"),
            (["Book", "title=x", "pages=1.5"], 2, "a whole number"),
            (["Book", "title=x", "isRead=2"], 2, "true or false"),
            (["Book", "title=x", "bought=yesterday"], 2, "a date"),
            (["Book", "title=x", "price="], 2, "38 digits"), (["Book", "title=x", "cover=?"], 2, "base64"),
            (["Book", "title=x", "maker=Rome"], 2, "maker.city"), (["Book", "title=x", "shelf=a"], 2, "Shelf/5"),
            // `Book` has a subentity, so the value must name the entity of the object.
            (["Book", "title=x", "next=1"], 2, "Book/5"), (["Shelf", "books=1"], 2, "many objects"),
            (["Book", "title=x", "pages=40000"], 2, "from -32768 to 32767"), (["Book"], 3, "title"),
            (["Book", "title=x", "shelf=9"], 3, "Shelf/p9"),
        ] as [([String], Int32, String)])
    func refusals(arguments: [String], code: Int32, message: String) throws {
        let place = try makeStore("sqlite")
        try place.start(["insert", "books"] + arguments).wait().expectError(code, containing: message)
        #expect(try place.roost("fetch", "books", "Book", "--count").output == "0\n")
    }

    @Test("an insert of a unique value that another object has is refused")
    func uniqueValue() throws {
        let place = try makeStore("sqlite")
        #expect(try place.roost("insert", "books", "Book", "title=x", "-q").output == "")
        try place.roost("insert", "books", "Book", "title=x").expectError(3, containing: "title")
        #expect(try place.roost("fetch", "books", "Book", "--count").output == "1\n")
    }
}
