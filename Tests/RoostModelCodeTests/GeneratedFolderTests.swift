import Foundation
import RoostCore
import RoostModelCode
import Testing

@Suite("Directories of generated files")
struct GeneratedFolderTests {
    private let directory: TemporaryDirectory
    private let folder: GeneratedFolder
    private let files: [ModelCode.File]

    init() throws {
        directory = try TemporaryDirectory()
        folder = GeneratedFolder(at: directory.file("out/Generated"), source: "Music.roostmodel.json")
        files = try ModelCode(Samples.music(), source: "Music.roostmodel.json").files(.perEntity)
    }

    @Test("a check finds nothing after the generated files were written")
    func findsNothingAfterWriting() throws {
        let written = try folder.write(files)
        #expect(
            written.map(\.writtenDescription) == [
                "wrote Album+Generated.swift", "wrote MusicModel+Generated.swift", "wrote Track+Generated.swift",
            ])
        #expect(try folder.findings(files) == [])
        #expect(try folder.write(files) == [])
    }

    @Test("a check names each stale, missing and superfluous generated file, and changes nothing")
    func namesChangedFiles() throws {
        _ = try folder.write(files)
        try directory.write(files[0].text + " ", to: "out/Generated/Album+Generated.swift")
        try directory.remove("out/Generated/Track+Generated.swift")
        try directory.write(files[0].text, to: "out/Generated/Old+Generated.swift")
        let names = try directory.names(in: "out/Generated")
        #expect(
            try folder.findings(files).map(\.description) == [
                "stale: Album+Generated.swift", "superfluous: Old+Generated.swift", "missing: Track+Generated.swift",
            ])
        #expect(try directory.names(in: "out/Generated") == names)
        #expect(try directory.text("out/Generated/Album+Generated.swift") == files[0].text + " ")
    }

    @Test("a check of a directory that does not exist finds missing files without creating it")
    func noDirectory() throws {
        #expect(try folder.findings(files).map(\.kind) == [.missing, .missing, .missing])
        #expect(try directory.names(in: "out") == [])
    }

    @Test("writing removes files that the same model generated before, and keeps all others")
    func superfluous() throws {
        _ = try folder.write(files)
        let notes = try ModelCode(Samples.people(), source: "Notes.roostmodel.json").files(.singleFile)
        _ = try GeneratedFolder(at: directory.file("out/Generated"), source: "Notes.roostmodel.json").write(notes)
        try directory.write("// By hand\n", to: "out/Generated/Hand.swift")
        let one = try ModelCode(Samples.music(), source: "Music.roostmodel.json").files(.singleFile)
        let changes = try folder.write(one).map(\.writtenDescription)
        #expect(
            changes == [
                "removed Album+Generated.swift", "wrote Music+Classes.swift", "removed MusicModel+Generated.swift",
                "removed Track+Generated.swift",
            ])
        #expect(
            try directory.names(in: "out/Generated") == ["Hand.swift", "Music+Classes.swift", "Notes+Classes.swift"])
    }

    @Test("writing refuses to replace a file that was not generated, and changes nothing")
    func foreignFile() throws {
        _ = try folder.write(files)
        try directory.write("// By hand\n", to: "out/Generated/Track+Generated.swift")
        try directory.write(files[0].text + " ", to: "out/Generated/Album+Generated.swift")
        let error = #expect(throws: StoreError.self) { try folder.write(files) }
        #expect(error?.code == .alreadyExists)
        #expect(error?.message.contains("Track+Generated.swift': the file is not generated") == true)
        #expect(try directory.text("out/Generated/Track+Generated.swift") == "// By hand\n")
        #expect(try directory.text("out/Generated/Album+Generated.swift") == files[0].text + " ")
    }

    @Test("a generated file that is up to date is not written again")
    func unchanged() throws {
        _ = try folder.write(files)
        let path = directory.file("out/Generated/Track+Generated.swift")
        let old = Date(timeIntervalSinceReferenceDate: 1000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
        try directory.write("", to: "out/Generated/Album+Generated.swift")
        #expect(try folder.write(files).map(\.name) == ["Album+Generated.swift"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date == old)
    }

    @Test("the error for generating files into a path that is not a directory names the path")
    func notDirectory() throws {
        try directory.write("", to: "out")
        let error = try #require(throws: StoreError.self) { try folder.write(files) }
        #expect(error.code == .ioFailure && error.message.contains("out/Generated"))
    }
}
