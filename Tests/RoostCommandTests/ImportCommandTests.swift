import Foundation
import Roost
import Testing

@Suite("roost import")
struct ImportCommandTests {
    private let tracks = """
        id,title,artist,year
        1,Blue,Joni Mitchell,1971
        2,"Ladies, of the Canyon",Joni Mitchell,1970
        3,Pink Moon,Nick Drake,

        """

    private func workplace(_ text: String? = nil) throws -> Workplace {
        let place = try Workplace()
        try place.write(Data((text ?? tracks).utf8), to: "tracks.csv")
        return place
    }

    @Test("an import of CSV makes a store whose types fit all rows", arguments: Workplace.fileTypes)
    func newStore(type: String) throws {
        let place = try workplace()
        let result = try place.roost("import", "tracks.csv", "\(type):music", "--entity=Track", "--json")
        let json = try result.json()
        #expect(json["rows"] as? Int == 3 && json["inserted"] as? Int == 3 && json["leftOut"] as? Int == 0)
        let found = try place.roost("fetch", "music", "Track", "--select=title,year", "--format=jsonl")
        #expect(
            found.output == """
                {"title": "Blue", "year": 1971}
                {"title": "Ladies, of the Canyon", "year": 1970}
                {"title": "Pink Moon", "year": null}

                """, "\(found.output)")
        #expect(try place.roost("check", "music").code == 0)
    }

    @Test(
        "an import into an existing store updates objects with an equal key and inserts others",
        arguments: Workplace.fileTypes)
    func existingStore(type: String) throws {
        let place = try workplace()
        let arguments = ["--entity=Track", "--key=id", "--relate=artist:Artist.name"]
        #expect(try place.start(["import", "tracks.csv", "\(type):music"] + arguments).wait().code == 0)
        try place.write(
            Data("id,title,artist\n2,Ladies,Joni Mitchell\n4,Five Leaves Left,Nick Drake\n".utf8), to: "more.csv")
        let result = try place.start(["import", "more.csv", "music", "--json"] + arguments).wait()
        let json = try result.json()
        #expect(json["rows"] as? Int == 2 && json["inserted"] as? Int == 1 && json["related"] as? Int == 0)
        let found = try place.roost(
            "fetch", "music", "Track", "--select=title,year,artist.name", "--format=csv", "--sort=title")
        #expect(
            found.output.replacing("\r", with: "") == """
                title,year,artist.name
                Blue,1971,Joni Mitchell
                Five Leaves Left,,Nick Drake
                Ladies,1970,Joni Mitchell
                Pink Moon,,Nick Drake

                """, "\(found.output)")
        #expect(try place.roost("fetch", "music", "Artist", "--count").output == "2\n")
    }

    @Test("the report of an import counts the dates whose offset from UTC is not kept")
    func offsets() throws {
        let place = try workplace("id,at\n1,2024-05-01T12:30:00+02:00\n2,2024-05-01T12:30:00-01:00\n")
        for store in ["sqlite:log", "log"] {
            let report = try place.roost("import", "tracks.csv", store, "--entity=Entry", "--json").json()
            #expect(
                report["warnings"] as? [String]
                    == ["Column 'at': 2 times with an offset from UTC are kept as times in UTC."])
        }
    }

    @Test("an import saves the model that it proposes, and accepts the edited model")
    func model() throws {
        let place = try workplace()
        let shown = try place.roost(
            "import", "tracks.csv", "sqlite:music", "--entity=Track", "--dry-run", "--save-model=model.json")
        #expect(
            shown.code == 0 && shown.output.contains("tracks.csv: 3 rows, each an object of Track"), "\(shown.errors)")
        #expect(try place.names() == ["model.json", "tracks.csv"])
        let looked = try place.roost(
            "import", "tracks.csv", "sqlite:music", "--entity=Track", "--dry-run", "--model=model.json")
        #expect(looked.output == "3 rows can become objects of 'Track'; nothing was written.\n", "\(looked.output)")
        let edited = String(decoding: try place.bytes("model.json"), as: UTF8.self)
            .replacing("\"year\": { \"type\": \"integer64\" }", with: "\"year\": { \"type\": \"string\" }")
        try place.write(Data(edited.utf8), to: "model.json")
        let made = try place.roost(
            "import", "tracks.csv", "sqlite:music", "--entity=Track", "--model=model.json")
        #expect(made.code == 0, "\(made.errors)")
        #expect(
            try place.roost("fetch", "music", "Track", "--select=year", "--format=jsonl", "--limit=1").output
                == "{\"year\": \"1971\"}\n")
    }

    @Test("a dry run of an import with --json prints the number of rows, unless it infers a model")
    func countAsJSON() throws {
        let place = try workplace(tracks + "4,x\n")
        let arguments = ["import", "tracks.csv", "--entity=Track", "--on-error=skip"]
        let saved = arguments + ["sqlite:music", "--save-model=model.json", "-q"]
        #expect(try place.start(saved).wait().code == 0)
        for words in [["sqlite:other", "--model=model.json"], ["sqlite:music"]] {
            let json = try place.start(arguments + words + ["--dry-run", "--json"]).wait().json()
            #expect(json["rows"] as? Int == 3 && json["inserted"] as? Int == 0 && json["leftOut"] as? Int == 1)
            #expect(json["destination"] as? String == words[0] && json["entity"] as? String == "Track")
        }
        let inferred = try place.start(arguments + ["sqlite:other", "--dry-run", "--json"]).wait().json()
        #expect(inferred["tables"] != nil && inferred["rows"] == nil)
        #expect(try !place.names().contains("other"))
    }

    @Test(
        "an import and its dry run refuse the same destinations and write nothing",
        arguments: [("other", "does not say what type of store to make"), ("memory:other", "ends with this command")])
    func refusedDestination(destination: String, message: String) throws {
        let place = try workplace()
        let before = try place.names()
        for more in [["--dry-run", "--save-model=model.json"], []] {
            try place.start(["import", "tracks.csv", destination, "--entity=Track"] + more).wait()
                .expectError(2, containing: message)
            #expect(try place.names() == before)
        }
    }

    @Test(
        "a dry run of an import reads a JSON store that another program writes",
        .enabled(if: Workplace.fileTypes.contains("json")))
    func dryRunBesideWriter() throws {
        let place = try workplace()
        #expect(try place.roost("import", "tracks.csv", "json:music", "--entity=Track", "-q").code == 0)
        let held = try StoreRegistry.standard.open(
            StoreLocation(type: "json", path: place.file("music")), options: StoreOptions(timeoutSeconds: 0))
        let arguments = ["import", "tracks.csv", "music", "--entity=Track", "--timeout=0"]
        try place.start(arguments).wait().expectError(3, containing: "one writer")
        let looked = try place.start(arguments + ["--dry-run"]).wait()
        #expect(looked.output == "3 rows can become objects of 'Track'; nothing was written.\n", "\(looked)")
        try held.close()
    }

    @Test("an import turns on a configured history, but its dry run does not", arguments: Workplace.fileTypes)
    func configuredHistory(type: String) throws {
        let place = try workplace()
        #expect(try place.roost("import", "tracks.csv", "\(type):music", "--entity=Track", "-q").code == 0)
        try place.write(
            Data("{ stores: { main: { type: '\(type)', path: 'music', options: { tracksHistory: true } } } }".utf8),
            to: "roost.json")
        let looked = try place.roost("import", "tracks.csv", "main", "--entity=Track", "--dry-run")
        #expect(looked.output == "3 rows can become objects of 'Track'; nothing was written.\n", "\(looked)")
        try place.roost("history", "music").expectError(3, containing: "records no history")
        let imported = try place.roost("import", "tracks.csv", "main", "--entity=Track", "-q")
        #expect(imported.code == 0, "\(imported)")
        #expect(try place.roost("history", "music").code == 0)
    }

    @Test("an import from standard input requires --format and --entity")
    func standardInput() throws {
        let place = try workplace()
        let shell = ["/bin/sh", "-c", "cat tracks.csv | \"$0\" \"$@\""]
        let made = try place.start(
            ["import", "-", "sqlite:music", "--entity=Track", "--format=csv", "-q"], through: shell
        ).wait()
        #expect(made.code == 0 && made.output.isEmpty, "\(made.errors)")
        #expect(try place.roost("fetch", "music", "Track", "--count").output == "3\n")
        try place.roost("import", "-", "sqlite:other", "--entity=Track").expectError(2, containing: "--format")
        try place.roost("import", "-", "sqlite:other", "--format=csv").expectError(2, containing: "--entity")
    }

    @Test("an import that stops at a faulty row creates no store and changes no existing store")
    func nothingAfterErrors() throws {
        let place = try workplace(tracks + "4,x\n")
        try place.roost("import", "tracks.csv", "sqlite:music", "--entity=Track")
            .expectError(3, containing: "'tracks.csv', line 5: the row has 2 cells, and the header has 4")
        #expect(try place.names() == ["tracks.csv"])
        #expect(try place.roost("import", "tracks.csv", "sqlite:music", "--entity=Track", "--on-error=skip").code == 0)
        try place.roost("import", "tracks.csv", "music", "--entity=Track").expectError(3, containing: "line 5")
        try place.roost("import", "tracks.csv", "music", "--entity=Track", "--dry-run")
            .expectError(3, containing: "line 5")
        #expect(try place.roost("fetch", "music", "Track", "--count").output == "3\n")
    }

    @Test("an import with --on-error=report leaves a faulty row out and prints its problem")
    func reportedRow() throws {
        let place = try workplace(tracks + "4,x\n")
        #expect(try place.roost("import", "tracks.csv", "sqlite:music", "--entity=Track", "--on-error=skip").code == 0)
        let result = try place.roost("import", "tracks.csv", "music", "--entity=Track", "--on-error=report", "--json")
        #expect(try result.json()["leftOut"] as? Int == 1)
        #expect(result.errors.split(separator: "\n").count == 2, "\(result.errors)")
        #expect(try place.roost("fetch", "music", "Track", "--count").output == "6\n")
    }

    @Test(
        "an import with a wrong argument names it and exits with 2",
        arguments: [
            (["tracks.csv", "music", "--entity=Trak"], "did you mean 'Track'?"),
            (["tracks.csv", "music", "--entity=Track", "--model=m.json"], "--model is for a new store"),
            (["tracks.csv", "music", "--entity=Track", "--key=id"], "no uniqueness constraint of 'id'"),
            (["tracks.csv", "sqlite:new", "--key=nr"], "The text has no column 'nr'"),
            (["tracks.csv", "sqlite:new", "--relate=artist"], "COLUMN:ENTITY.ATTRIBUTE"),
            (["tracks.csv", "sqlite:new", "--delimiter=ab"], "'--delimiter' needs one character"),
            (["tracks.csv", "sqlite:new", "--encoding=ebcdic"], "'ebcdic' is not an encoding"),
            (["tracks.csv", "sqlite:new", "--timezone=Mars"], "'Mars' is not the name of a time zone"),
            (["tracks.csv", "sqlite:new", "--on-error=ignore"], "stop, skip or report"),
            (["tracks.csv", "sqlite:new", "--format=xml"], "'xml' is not a format"),
            (["tracks", "sqlite:new"], "'tracks' does not say its format"),
        ])
    func refusals(arguments: [String], message: String) throws {
        let place = try workplace()
        #expect(try place.roost("import", "tracks.csv", "sqlite:music", "--entity=Track", "-q").code == 0)
        try place.start(["import"] + arguments).wait().expectError(2, containing: message)
        #expect(try place.roost("fetch", "music", "Track", "--count").output == "3\n")
    }

    @Test("an import of a missing file names the file")
    func missingFile() throws {
        try workplace().roost("import", "nothing.csv", "sqlite:music").expectError(3, containing: "'nothing.csv'")
    }
}
