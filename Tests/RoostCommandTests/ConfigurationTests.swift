import Foundation
import Roost
import Testing

@Suite("The configuration on the command line")
struct ConfigurationTests {
    /// Creates a store `a`, and a configuration with the names `main` for `a` and `copy` for `b`.
    private func place(_ type: String, options: String = "{}") throws -> Workplace {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 50)
        try place.write(
            Data(
                """
                {
                  stores: {
                    main: { type: "\(type)", path: "a" },
                    copy: { type: "\(type)", path: "b", options: \(options) },
                  },
                  default: "main",
                }
                """.utf8), to: "roost.json")
        return place
    }

    @Test(
        "commands accept a configured name as a store, also with --config or from a subdirectory",
        arguments: Workplace.fileTypes)
    func names(type: String) throws {
        let place = try place(type)
        let path = try place.roost("info", "main", "--json").json()["path"] as? String
        #expect(path?.hasSuffix("/a") == true)
        #expect(try place.roost("check", "main").code == 0)
        #expect(try place.roost("convert", "main", "copy").code == 0)
        #expect(try place.names().contains("b"))
        #expect(try place.roost("diff", "main", "copy").code == 0)
        #expect(try place.roost("diff", "copy", "a").code == 0)
        #expect(try place.roost("model", "print", "main").output == place.roost("model", "print", "a").output)
        #expect(try place.roost("model", "diff", "main", "copy").code == 0)
        #expect(try place.roost("model", "validate", "copy").code == 0)
        try FileManager.default.createDirectory(atPath: place.file("x/y"), withIntermediateDirectories: true)
        #expect(try place.roost("info", "main", through: ["/usr/bin/env", "-C", place.file("x/y")]).code == 0)
        let elsewhere = try Workplace()
        #expect(try elsewhere.roost("info", "main", "--config", place.file("roost.json")).code == 0)
        let variable = "ROOST_CONFIG=" + place.file("roost.json")
        #expect(try elsewhere.roost("info", "main", through: ["/usr/bin/env", variable]).code == 0)
        try elsewhere.roost("info", "main").expectError(3, containing: "'main'")
    }

    @Test(
        "a command without STORE uses ROOST_STORE or the default of the configuration", arguments: Workplace.fileTypes)
    func defaultStore(type: String) throws {
        let place = try place(type)
        #expect(try place.roost("info").output == place.roost("info", "main").output)
        #expect(try place.roost("check", "--json").code == 0)
        let copy = ["/usr/bin/env", "ROOST_STORE=copy"]
        try place.roost("info", through: copy).expectError(3, containing: "/b'")
        #expect(try place.roost("info", through: ["/usr/bin/env", "ROOST_STORE=\(type):a"]).code == 0)
        #expect(try place.roost("info", through: ["/usr/bin/env", "ROOST_STORE=a"]).code == 0)
        try place.roost("info", through: ["/usr/bin/env", "ROOST_STORE=cpoy"]).expectError(
            2, containing: "did you mean 'copy'?")
        try place.roost("convert", "main").expectError(2, containing: "needs SOURCE DEST")
        try Workplace().roost("info").expectError(2, containing: "needs STORE")
    }

    @Test("a configured name means its store, but a path with ./ means a file", arguments: Workplace.fileTypes)
    func precedence(type: String) throws {
        let place = try place(type)
        try place.makeStore(type, named: "main", objects: 7)
        func path(_ text: String) throws -> String? {
            try place.roost("info", text, "--json").json()["path"] as? String
        }
        #expect(try path("main")?.hasSuffix("/a") == true)
        #expect(try path("./main") == "./main")
        #expect(try path("\(type):main") == "main")
    }

    @Test("a wrong configuration exits with 2 and leaves every file unchanged", arguments: Workplace.fileTypes)
    func wrong(type: String) throws {
        let place = try place(type, options: "{ no_such_option: 1 }")
        let before = try place.names()
        for arguments in [["config"], ["info", "main"], ["convert", "a", "copy"], ["info"], ["check", "main"]] {
            try place.start(arguments).wait().expectError(2, containing: "no_such_option")
        }
        for arguments in [["info", "\(type):a"], ["info", "./a"]] {
            // An argument that cannot be a configured name needs no configuration, unless --config
            // is given.
            #expect(try place.start(arguments).wait().code == 0)
            try place.start(arguments + ["--config=roost.json"]).wait().expectError(2, containing: "line 4")
        }
        try place.roost("info", "./a", "--config=nothing").expectError(2, containing: "nothing")
        try place.write(Data("{stores: {main: {type: '\(type)x', path: 'a'}}}".utf8), to: "roost.json")
        try place.roost("info", "main").expectError(2, containing: "did you mean '\(type)'?")
        try place.write(Data("{model: 'none', stores: {main: {type: '\(type)', path: 'a'}}}".utf8), to: "roost.json")
        try place.roost("info", "main").expectError(2, containing: "does not exist")
        try place.write(Data("{model: 'a', stores: {main: {type: '\(type)', path: 'a'}}}".utf8), to: "roost.json")
        #expect(try place.roost("config").code == 0)
        try place.write(Data("not a model".utf8), to: "m.json")
        try place.write(Data("{model: 'm.json'}".utf8), to: "roost.json")
        try place.roost("config").expectError(2, containing: "model")
        #expect(try place.names().filter { $0 != "m.json" } == before)
    }

    @Test("the error for a mistyped store name suggests the configured name")
    func hints() throws {
        let place = try place(try #require(Workplace.fileTypes.first))
        try place.roost("info", "mian").expectError(3, containing: "the store 'main'")
        try place.roost("convert", "main", "cop").expectError(2, containing: "the store 'copy'")
    }

    @Test("roost config prints each setting with its origin, and makes control characters visible")
    func printed() throws {
        let place = try place(try #require(Workplace.fileTypes.first))
        let result = try place.roost("config", through: ["/usr/bin/env", "ROOST_STORE=copy"])
        #expect(result.code == 0 && result.errors == "")
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.first == ["setting", "value", "from"])
        #expect(lines.contains { $0.first == "file" && $0.last == "found" })
        #expect(lines.contains(["default", "copy", "ROOST_STORE"]))
        #expect(lines.contains { $0.first == "stores.copy" && $0.last == "roost.json:4" })
        #expect(lines.contains { $0.first?.hasPrefix("stores.main.options.") == true && $0.last == "default" })
        let json = try place.roost("config", "--json").json()
        let settings = try #require(json["settings"] as? [[String: String]])
        #expect((json["file"] as? String)?.hasSuffix("/roost.json") == true)
        #expect(settings.first { $0["key"] == "default" }?["value"] == "main")
        try place.write(
            Data("{stores: {a: {type: 'memory', path: 'x\\u001b[31m\\ny'}}}".utf8), to: "hostile.json")
        let shown = try place.roost("config", "--config=hostile.json").output
        #expect(shown.contains("memory:x␛[31m␊y") && !shown.contains("\u{1B}"))
        let none = try Workplace().roost("config")
        #expect(none.code == 0 && none.output.contains("no configuration"))
    }

    #if SQLite
        @Test("a conversion into a configured name uses the options of that store")
        func options() throws {
            let place = try place("sqlite", options: "{ pageSizeBytes: 1024 }")
            #expect(try place.roost("convert", "main", "copy").code == 0)
            // The page size is a big-endian number at offset 16 of an SQLite file.
            #expect(try Array(place.bytes("b")[16..<18]) == [4, 0])
        }
    #endif

    /// With `ROOST_WRITE_DOCS=1`, updates the table instead of comparing it.
    @Test("docs/configuration.md lists the options of every store type")
    func page() throws {
        let location = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/configuration.md")
        let text = String(decoding: try Data(contentsOf: location), as: UTF8.self)
        let title = "| type | option | value | default | what it does |\n|---|---|---|---|---|\n"
        let before = try #require(text.range(of: title)).upperBound
        let after = text[before...].range(of: "\n## ")?.lowerBound ?? text.endIndex
        let rows = StoreRegistry.standard.all.flatMap { type in
            type.optionDescriptions.isEmpty
                ? ["| `\(type.name)` | – | | | |\n"]
                : type.optionDescriptions.map {
                    "| `\(type.name)` | `\($0.name)` | \($0.values.description) | \($0.standard) | \($0.summary) |\n"
                }
        }
        let wanted = text[..<before] + rows.joined() + text[after...]
        if ProcessInfo.processInfo.environment["ROOST_WRITE_DOCS"] != nil {
            try Data(wanted.utf8).write(to: location)
        } else {
            #expect(text == wanted)
        }
    }
}
