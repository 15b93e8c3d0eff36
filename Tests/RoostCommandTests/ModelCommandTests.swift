import Foundation
import Roost
import Testing

@Suite("roost model")
struct ModelCommandTests {
    private let document = """
        {"formatVersion": 1, "entities": {"Track": {"attributes": {"title": {"type": "string"}}}}}
        """

    @Test("model print prints a document that reads back as the same model")
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

    @Test("model print prints the model in a store")
    func printsStoreModel() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 10)
        let result = try place.roost("model", "print", "a")
        #expect(result.code == 0)
        #expect(result.output.contains("\"catalogueNumber\""))
    }

    @Test("model diff names the differences and says that a migration cannot be inferred")
    func compares() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "a.json")
        try place.write(Data(document.replacingOccurrences(of: "string", with: "integer32").utf8), to: "b.json")
        let result = try place.roost("model", "diff", "a.json", "b.json")
        #expect(result.code == 1)
        #expect(result.output.contains("Track.title"))
        #expect(result.output.contains("cannot be inferred"))
        let json = try place.roost("model", "diff", "a.json", "b.json", "--json").json()
        #expect(json["equal"] as? Bool == false)
        #expect(json["compatible"] as? Bool == false)
    }

    @Test("model validate lists every problem of a model and exits with 1")
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
        // Other commands print the same problems in one line, and exit with 3.
        try place.roost("model", "print", "wrong.json").expectError(3, containing: "Missing")
    }

    @Test("model validate exits with 0, 1 or 3 for a valid, broken or missing model")
    func validationExitCodes() throws {
        let place = try Workplace()
        try place.write(Data("{".utf8), to: "broken.json")
        #expect(try place.roost("model", "validate", "broken.json").code == 1)
        try place.roost("model", "validate", "missing.json").expectError(3, containing: "missing.json")
        try place.write(Data(document.utf8), to: "good.json")
        #expect(try place.roost("model", "validate", "good.json").code == 0)
    }

    /// Creates a workplace with two versions of a model, `a.json` and `b.json`.
    private func placeWithVersions() throws -> Workplace {
        let place = try Workplace()
        let old = """
            {formatVersion: 1, entities: {
              Note: {attributes: {title: {type: 'string'}, color: {type: 'string'}, n: {type: 'integer16'}}},
              Tag: {attributes: {name: {type: 'string'}}}}}
            """
        try place.write(Data(old.utf8), to: "a.json")
        try place.write(Data(Self.newVersion.utf8), to: "b.json")
        return place
    }

    private static let newVersion = """
        {formatVersion: 1, entities: {
          Post: {renamingIdentifier: 'Note', attributes: {title: {type: 'string', isOptional: false}, n: {type: 'integer32'}}},
          Tag: {attributes: {name: {type: 'string', defaultValue: ''}}}, Author: {}}}
        """

    @Test("model diff lists what an inferred migration does, loses and requires")
    func migration() throws {
        let result = try placeWithVersions().roost("model", "diff", "a.json", "b.json")
        #expect(result.code == 1 && result.errors == "")
        let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for line in [
            "A migration is needed, and can be inferred:", "Author: added", "Note: transformed into Post",
            "1 entity is copied as it is",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(lines.contains { $0.hasPrefix("loss: Note.color: ") })
        #expect(lines.contains { $0.hasPrefix("demand: Post.title: ") })
        #expect(lines.contains("Note: entity renamed to Post; needs a migration"))
        #expect(!lines.contains { $0.hasPrefix("Note: entity removed") || $0.hasPrefix("Post: entity added") })
    }

    @Test("model diff --json has the differences, mappings and remarks of a migration")
    func migrationJSON() throws {
        let json = try placeWithVersions().roost("model", "diff", "a.json", "b.json", "--json").json()
        let renamed = (json["differences"] as? [[String: Any]])?.first { $0["kind"] as? String == "renamed" }
        #expect(renamed?["entity"] as? String == "Post" && renamed?["formerName"] as? String == "Note")
        #expect(json["inferable"] as? Bool == true && json["compatible"] as? Bool == false)
        #expect(
            (json["mappings"] as? [[String: Any]])?.compactMap { $0["type"] as? String } == [
                "add", "transform", "copy",
            ])
        #expect((json["remarks"] as? [[String: Any]])?.compactMap { $0["kind"] as? String } == ["loss", "demand"])
    }

    @Test("model diff names the property whose smaller type prevents an inferred migration")
    func smallerType() throws {
        let json = try placeWithVersions().roost("model", "diff", "b.json", "a.json", "--json").json()
        #expect(json["inferable"] as? Bool == false)
        let problem = (json["problems"] as? [[String: Any]])?.first
        #expect(problem?["entity"] as? String == "Note" && problem?["property"] as? String == "n")
    }

    @Test("model diff infers the conversion of a number to text only with --to-text")
    func conversionToText() throws {
        let place = try placeWithVersions()
        let new = Self.newVersion.replacingOccurrences(of: "integer32", with: "string")
        try place.write(Data(new.utf8), to: "c.json")
        #expect(try place.roost("model", "diff", "a.json", "c.json", "--json").json()["inferable"] as? Bool == false)
        let text = try place.roost("model", "diff", "a.json", "c.json", "--to-text", "--json").json()
        #expect(text["inferable"] as? Bool == true)
    }

    @Test("model diff says when no migration is needed")
    func compatible() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "a.json")
        let other = document.replacingOccurrences(of: "\"string\"", with: "\"string\", \"defaultValue\": \"x\"")
        try place.write(Data(other.utf8), to: "b.json")
        let result = try place.roost("model", "diff", "a.json", "b.json")
        #expect(result.code == 1 && result.output.contains("No migration is needed."))
        let hashed = try place.roost("model", "diff", "a.json", "b.json", "--hash-only")
        #expect(hashed.code == 0 && hashed.output == "")
        let json = try place.roost("model", "diff", "a.json", "b.json", "--json").json()
        #expect(json["compatible"] as? Bool == true && json["inferable"] == nil)
    }

    @Test("model history prints each step between the versions of a bundle")
    func history() throws {
        let place = try Workplace()
        func version(_ name: String, attributes: String) throws {
            let text = """
                <?xml version="1.0" encoding="UTF-8"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note">\(attributes)</entity></model>
                """
            let directory = "M.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(
                atPath: place.file(directory), withIntermediateDirectories: true)
            try place.write(Data(text.utf8), to: directory + "/contents")
        }
        let title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
        try version("M", attributes: title)
        try version("M 2", attributes: title + #"<attribute name="n" optional="YES" attributeType="Integer 16"/>"#)
        try version("M 10", attributes: title + #"<attribute name="n" optional="YES" attributeType="Integer 64"/>"#)
        try version("M 10b", attributes: title + #"<attribute name="n" optional="YES" attributeType="Boolean"/>"#)
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>M 10b.xcdatamodel</string></dict></plist>
            """
        try place.write(Data(plist.utf8), to: "M.xcdatamodeld/.xccurrentversion")
        let result = try place.roost("model", "history", "M.xcdatamodeld")
        #expect(result.code == 1 && result.errors == "")
        let steps = result.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(
            steps == [
                "M → M 2: 1 difference, a migration can be inferred",
                "M 2 → M 10: 1 difference, a migration can be inferred",
                "M 10 → M 10b: 1 difference, a migration needs a mapping model",
            ])
        let json = try place.roost("model", "history", "M.xcdatamodeld", "--json").json()
        #expect(json["versions"] as? [String] == ["M", "M 2", "M 10", "M 10b"])
        #expect((json["steps"] as? [Any])?.count == 3)
    }

    @Test("model history refuses a model without versions, and a missing bundle")
    func withoutHistory() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "a.json")
        try place.roost("model", "history", "a.json").expectError(2, containing: "no history")
        try place.roost("model", "history", "missing.xcdatamodeld").expectError(3, containing: "missing.xcdatamodeld")
    }

    /// Writes a bundle without a current version.
    ///
    /// Each version has one more attribute than the version before.
    private func writeBundle(_ versions: String..., in place: Workplace) throws {
        for (index, name) in versions.enumerated() {
            let attributes = (0...index).map {
                "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>"
            }
            let directory = "W.xcdatamodeld/\(name).xcdatamodel"
            try FileManager.default.createDirectory(atPath: place.file(directory), withIntermediateDirectories: true)
            try place.write(
                Data("<model><entity name=\"Item\">\(attributes.joined())</entity></model>".utf8),
                to: directory + "/contents")
        }
        try place.write(Data("<plist version=\"1.0\"><dict/></plist>".utf8), to: "W.xcdatamodeld/.xccurrentversion")
    }

    @Test("model history gives the reason for its order of versions")
    func orderReasons() throws {
        let place = try Workplace()
        try writeBundle("Wallet", "Multi", "Multi_v2", "Multi_v10", in: place)
        let guessed = try place.roost("model", "history", "W.xcdatamodeld", "--json").json()
        #expect(guessed["versions"] as? [String] == ["Multi", "Multi_v2", "Multi_v10", "Wallet"])
        let reasons = (guessed["steps"] as? [[String: Any]])?.compactMap { $0["orderReason"] as? String }
        #expect(reasons?.dropLast() == ["the numbers in the names", "the numbers in the names"])
        #expect(reasons?.last?.contains("nothing indicates it") == true)
    }

    @Test("model history takes an order of versions from one or several --versions")
    func statedHistory() throws {
        let place = try Workplace()
        try writeBundle("Wallet", "Multi", "Multi_v2", "Multi_v10", in: place)
        let stated = try place.roost("model", "history", "W.xcdatamodeld", "--versions=Wallet,Multi")
        #expect(stated.output.contains("Wallet → Multi: 1 difference"))
        #expect(stated.output.contains("order: the stated order"))
        #expect(stated.output.contains("Multi_v2 → Multi_v10"))
        let split = try place.roost(
            "model", "history", "W.xcdatamodeld", "--versions=Wallet", "--versions=Multi", "--json"
        ).json()
        #expect(split["versions"] as? [String] == ["Wallet", "Multi", "Multi_v2", "Multi_v10"])
    }

    @Test(
        "model history refuses an order with only one name, an empty name or an unknown name",
        arguments: [
            ("Wallet", "give at least two versions"), ("Wallet,,Multi,", "empty name"),
            ("Wallet,Multy", "did you mean 'Multi'?"),
        ])
    func wrongOrder(versions: String, message: String) throws {
        let place = try Workplace()
        try writeBundle("Wallet", "Multi", "Multi_v2", "Multi_v10", in: place)
        try place.roost("model", "history", "W.xcdatamodeld", "--versions=\(versions)")
            .expectError(2, containing: message)
    }

    @Test("a migration follows the stated order of a bundle's versions")
    func statedOrder() throws {
        let place = try Workplace()
        try writeBundle("Wallet", "Multi", "Multi_v2", in: place)
        let model = try ModelFile.read(place.file("W.xcdatamodeld"), version: "Wallet").model
        for name in ["a", "b"] {
            try StoreRegistry.standard.create(StoreLocation(type: "json", path: place.file(name)), model: model).close()
        }
        let target = "--to=W.xcdatamodeld@Multi_v2"
        let stated = try place.roost("migrate", "a", target, "--versions=Wallet,Multi", "--in-place", "--json")
        #expect(stated.code == 0, "\(stated.errors)")
        #expect(try place.roost("migrate", "b", target, "--in-place").code == 0)
        try place.roost("migrate", "b", "--to=W.xcdatamodeld@Multi", "--in-place").expectError(
            3, containing: "--versions")
        try place.roost("migrate", "b", "--to=b", "--versions=Multi,Wallet", "--in-place")
            .expectError(2, containing: "--versions needs a bundle")
    }

    @Test("--model with a bundle selects the version that the store was made with", arguments: ["json", "sqlite"])
    func bundleOfStore(type: String) throws {
        let place = try Workplace()
        try writeBundle("W", "W 2", "W 3", in: place)
        let model = try ModelFile.read(place.file("W.xcdatamodeld"), version: "W 2").model
        try StoreRegistry.standard.create(StoreLocation(type: type, path: place.file("store")), model: model).close()
        let info = try place.roost("info", "\(type):store", "--model=W.xcdatamodeld", "--json")
        #expect(info.code == 0, "\(info.errors)")
        #expect((try info.json()["model"] as? [String: Any])?["versionHashRecipe"] as? Int == 2)
        try place.roost("info", "\(type):store", "--model=W.xcdatamodeld", "--model-version=W 3")
            .expectError(3, containing: "a2")
    }

    @Test("model generate writes classes, and --check names each file that differs")
    func generates() throws {
        let place = try Workplace()
        try place.write(Data(document.utf8), to: "Music.roostmodel.json")
        let first = try place.roost("model", "generate", "Music.roostmodel.json", "--output=out")
        #expect(first.code == 0 && first.errors == "")
        #expect(first.output == "wrote MusicModel+Generated.swift\nwrote Track+Generated.swift\n")
        let green = try place.roost("model", "generate", "Music.roostmodel.json", "-o", "out", "--check")
        #expect(green.code == 0 && green.output == "")
        try FileManager.default.removeItem(atPath: place.file("out/Track+Generated.swift"))
        let red = try place.roost(
            "model", "generate", "Music.roostmodel.json", "--output=out", "--check", "--access=public")
        #expect(red.code == 1)
        #expect(red.output == "stale: MusicModel+Generated.swift\nmissing: Track+Generated.swift\n")
        let json = try place.roost("model", "generate", "Music.roostmodel.json", "--output=out", "--json").json()
        #expect((json["files"] as? [[String: String]]) == [["name": "Track+Generated.swift", "state": "missing"]])
        let one = try place.roost(
            "model", "generate", "Music.roostmodel.json", "--output=out", "--single-file", "--quiet")
        #expect(one.code == 0 && one.output == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("out")) == ["Music+Classes.swift"])
    }

    @Test("model generate takes the model of a store")
    func generatesFromStore() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "music.sqlite", objects: 10)
        let result = try place.roost("model", "generate", "music.sqlite", "--output=out", "--single-file")
        #expect(result.code == 0 && result.output == "wrote music+Classes.swift\n")
    }

    @Test("model generate refuses unusable names and wrong options without writing")
    func refusesNames() throws {
        let place = try Workplace()
        try place.write(Data(document.replacingOccurrences(of: "title", with: "context").utf8), to: "a.json")
        try place.roost("model", "generate", "a.json", "--output=out").expectError(3, containing: "Track.context")
        try place.roost("model", "generate", "a.json").expectError(2, containing: "--output=DIR")
        try place.roost("model", "generate", "a.json", "--check").expectError(2, containing: "--output")
        try place.roost("model", "generate", "a.json", "--output=out", "--access=private")
            .expectError(2, containing: "internal, package or public")
        #expect(try place.names() == ["a.json"])
    }
}
