import Foundation
import Testing

@Suite("roost-model-compiler")
struct CompilerCommandTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private struct Outcome {
        let code: Int32
        let output: String
        let errors: String
    }

    private static let program: String? = {
        let candidates = [Bundle.main.executableURL, URL(fileURLWithPath: CommandLine.arguments[0])].compactMap { $0 }
        return candidates.map { $0.deletingLastPathComponent().appendingPathComponent("roost-model-compiler").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    private func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

    private func run(_ arguments: [String]) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Self.program, "the program was not built"))
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle.nullDevice
        // Files, because a pipe fills up unless both outputs are read at the same time.
        for name in ["output", "errors"] { try directory.write("", to: name) }
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("output")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("errors")))
        try process.run()
        process.waitUntilExit()
        return Outcome(
            code: process.terminationStatus, output: try directory.text("output"),
            errors: try directory.text("errors"))
    }

    private func writeModel(_ attribute: String = "title") throws {
        try directory.write(
            """
            // JSON5
            {formatVersion: 1, entities: {Track: {attributes: {\(attribute): {type: "string"}}}}}
            """, to: "Music.roostmodel.json")
    }

    private func writeBundle(codegen: String = "", name: String = "Notes") throws {
        try directory.write(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note" representedClassName="Note" \(codegen)>
                    <attribute name="text" optional="YES" attributeType="String"/>
                </entity>
            </model>
            """, to: "\(name).xcdatamodeld/Notes.xcdatamodel/contents")
    }

    @Test("roost-model-compiler writes the classes of a model document, and a check passes")
    func document() throws {
        try writeModel()
        let first = try run("Music.roostmodel.json", "--output", "out")
        #expect(first.code == 0 && first.errors == "")
        #expect(first.output == "wrote MusicModel+Generated.swift\nwrote Track+Generated.swift\n")
        let check = try run("Music.roostmodel.json", "--output=out", "--check")
        #expect(check.code == 0 && check.output == "")
    }

    @Test("roost-model-compiler --check exits with 1 and names stale files")
    func staleFiles() throws {
        try writeModel()
        #expect(try run("Music.roostmodel.json", "--output", "out").code == 0)
        try writeModel("name")
        let stale = try run("Music.roostmodel.json", "--output=out", "--check")
        #expect(stale.code == 1)
        #expect(stale.output == "stale: MusicModel+Generated.swift\nstale: Track+Generated.swift\n")
    }

    @Test("roost-model-compiler --check exits with 1 if the access level differs")
    func otherAccessLevel() throws {
        try writeModel()
        #expect(try run("Music.roostmodel.json", "--output", "out").code == 0)
        let access = try run("Music.roostmodel.json", "--output=out", "--check", "--access=public")
        #expect(access.code == 1)
    }

    @Test("roost-model-compiler --single-file --quiet writes one file for a Core Data bundle and prints nothing")
    func bundle() throws {
        try writeBundle()
        let result = try run("Notes.xcdatamodeld", "--output", "out", "--single-file", "--quiet")
        #expect(result.code == 0 && result.output == "" && result.errors == "")
        #expect(try directory.names(in: "out") == ["Notes+Classes.swift"])
        #expect(try directory.text("out/Notes+Classes.swift").contains("final class Note: ManagedObject"))
    }

    @Test(
        "roost-model-compiler --xcode refuses entities whose classes Xcode also generates",
        arguments: ["class", "category"])
    func xcode(codegen: String) throws {
        try writeBundle(codegen: "codeGenerationType=\"\(codegen)\"")
        #expect(try run("Notes.xcdatamodeld", "--output", "out").code == 0)
        let result = try run("Notes.xcdatamodeld", "--output", "out", "--xcode")
        #expect(result.code == 3)
        #expect(result.errors.hasPrefix("Notes.xcdatamodeld: error: ") && result.errors.contains("'Note'"))
        #expect(result.errors.contains("'Manual/None'"))
        try writeBundle(name: "Manual")
        #expect(try run("Manual.xcdatamodeld", "--output", "out", "--xcode").code == 0)
    }

    @Test(
        "roost-model-compiler refuses a compiled model and names the source file type to use instead",
        arguments: ["Notes.mom", "All.momd"])
    func compiled(path: String) throws {
        try directory.write("bplist00", to: "Notes.mom")
        try directory.write("bplist00", to: "All.momd/Notes.mom")
        let result = try run(path, "--output", "out")
        #expect(result.code == 3)
        #expect(result.errors.contains("is a compiled model") && result.errors.contains(".xcdatamodeld"))
    }

    @Test("roost-model-compiler names the model in an error and writes nothing")
    func errors() throws {
        let missing = try run("Missing.roostmodel.json", "--output", "out")
        #expect(missing.code == 3 && missing.errors.hasPrefix("Missing.roostmodel.json: error: "))
        try directory.write("{", to: "Broken.roostmodel.json")
        let broken = try run("Broken.roostmodel.json", "--output", "out")
        #expect(broken.code == 3 && broken.errors.hasPrefix("Broken.roostmodel.json: error: "))
        try writeModel("context")
        let clash = try run("Music.roostmodel.json", "--output", "out")
        #expect(clash.code == 3 && clash.errors.contains("Track.context: "))
        #expect(try directory.names(in: "out") == [])
    }

    @Test(
        "a wrong command line of roost-model-compiler exits with 2 and prints one line",
        arguments: [
            (["--output", "out"], "MODEL is missing"), (["Music.roostmodel.json"], "'--output' is missing"),
            (["a.json", "b.json", "--output", "out"], "'b.json'"), (["a.json", "--outptu", "x"], "'--output'?"),
            (["a.json", "--output"], "needs a value"), (["a.json", "--output="], "needs a value"),
            (["a.json", "--output", "x", "--access", "private"], "internal, package or public"),
            (["a.json", "--output", "x", "--check=yes"], "has no value"), (["a.json", "-quiet"], "'-quiet'"),
            (["a.json", "---quiet"], "'---quiet'"), ([], "MODEL is missing"),
        ])
    func usage(arguments: [String], text: String) throws {
        let result = try run(arguments)
        #expect(result.code == 2 && result.output == "")
        #expect(result.errors.hasPrefix("roost-model-compiler: error: ") && result.errors.contains(text))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("roost-model-compiler --help prints its usage")
    func help() throws {
        let result = try run("--help")
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output.hasPrefix("usage: roost-model-compiler MODEL --output DIR"))
    }

    @Test(
        "roost-model-compiler does not link SQLite, LMDB or zlib",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ldd")))
    func libraries() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ldd")
        process.arguments = [try #require(Self.program, "the program was not built")]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.contains("libxxhash"))
        for library in ["libsqlite3", "liblmdb", "libz."] { #expect(!text.contains(library)) }
    }
}
