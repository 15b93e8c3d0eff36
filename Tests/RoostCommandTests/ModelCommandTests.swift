import Foundation
import Testing

@Suite("roost model")
struct ModelCommandTests {
    private let document = """
        {"formatVersion": 1, "entities": {"Track": {"attributes": {"title": {"type": "string"}}}}}
        """

    @Test("prints a document that reads back and prints the same")
    func prints() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "a.roostmodel.json")
        let first = try place.roost("model", "print", "a.roostmodel.json")
        #expect(first.code == 0 && first.errors == "")
        try place.write(Data(first.output.utf8), to: "b.roostmodel.json")
        #expect(try place.roost("model", "print", "b.roostmodel.json").output == first.output)
        let comparison = try place.roost("model", "diff", "a.roostmodel.json", "b.roostmodel.json")
        #expect(comparison.code == 0 && comparison.output == "")
    }

    @Test("prints the model that a store embeds")
    func printsStoreModel() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", "a", objects: 10)
        let result = try place.roost("model", "print", "a")
        #expect(result.code == 0)
        #expect(result.output.contains("\"catalogueNumber\""))
    }

    @Test("compares two models and says what needs a migration")
    func compares() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "a.json")
        try place.write(Data(document.replacingOccurrences(of: "string", with: "integer32").utf8), to: "b.json")
        let result = try place.roost("model", "diff", "a.json", "b.json")
        #expect(result.code == 1)
        #expect(result.output.contains("Track.title"))
        let json = try place.roost("model", "diff", "a.json", "b.json", "--json").json()
        #expect(json["equal"] as? Bool == false)
        #expect(json["compatible"] as? Bool == false)
    }

    @Test("lists every problem of a model with errors and exits 1")
    func validates() throws {
        let place = try Workplace()
        let wrong = """
            {"formatVersion": 1, "entities": {
              "A": {"superentity": "Nothing", "attributes": {"x": {"type": "string"}}},
              "B": {"relationships": {"other": {"destination": "Missing", "maxCount": 1}}}}}
            """
        try place.write(Data(wrong.utf8), to: "wrong.json")
        let result = try place.roost("model", "validate", "wrong.json")
        #expect(result.code == 1 && result.errors == "")
        #expect(result.output.split(separator: "\n").count >= 2)
        #expect(result.output.contains("Nothing") && result.output.contains("Missing"))
        let json = try place.roost("model", "validate", "wrong.json", "--json").json()
        #expect(json["valid"] as? Bool == false)
        #expect((json["problems"] as? [Any])?.count ?? 0 >= 2)
        // Everywhere else the same problems are one line and exit code 3.
        try place.roost("model", "print", "wrong.json").expectError(3, containing: "Missing")
        try place.write(Data("{".utf8), to: "broken.json")
        #expect(try place.roost("model", "validate", "broken.json").code == 1)
        try place.roost("model", "validate", "missing.json").expectError(3, containing: "missing.json")
        try place.write(Data(document.utf8), to: "good.json")
        #expect(try place.roost("model", "validate", "good.json").code == 0)
    }
}
