import Foundation
import Roost
import RoostCore
import Testing

@Suite("The pages of the documentation")
struct PageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// README.md and every page of docs.
    private static let pages: [String] = {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("docs").path)) ?? []
        return ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    /// The code of all tests and examples, without imports and white space.
    private static let sources: Result<[String], any Error> = Result {
        try ["Tests", "Examples"].flatMap { folder in
            let files = FileManager.default.enumerator(
                at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            return try (files?.compactMap { $0 as? URL } ?? [])
                .filter { $0.pathExtension == "swift" && !$0.path.contains("/.build/") }
                .map { squeezed(try String(contentsOf: $0, encoding: .utf8)) }
        }
    }

    private static func read(_ page: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    }

    /// Returns code without imports and without white space, which the formatter changes.
    private static func squeezed(_ text: String) -> String {
        text.split(separator: "\n").filter { !$0.hasPrefix("import ") }.joined().filter { !$0.isWhitespace }
    }

    /// Returns the Swift code blocks of a page, except blocks that are whole files of a package.
    ///
    /// `Tests/strangers` builds and runs those files.
    private static func blocks(_ text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().enumerated().compactMap { index, part in
            let before = text.components(separatedBy: "```swift\n")[index]
            let isFile =
                before.hasSuffix(" -->\n") && (before.split(separator: "\n").last?.hasPrefix("<!-- file: ") ?? false)
            return isFile ? nil : part.components(separatedBy: "```")[0]
        }
    }

    /// The variables that tests use instead of the literals of a page.
    private static let replacements = [
        [(#".sqlite("music.sqlite")"#, "location")],
        [(#""music.sqlite""#, "path"), (#""notes.sqlite""#, "path"), (#""Notes.xcdatamodeld""#, "bundle")],
        [(#".coreData("Old.sqlite")"#, "source"), (#".lmdb("New.lmdb")"#, "destination")],
        [("RoostConfiguration()", "RoostConfiguration(file: file)")],
    ]

    @Test("tests or examples contain the Swift code that a documentation page shows", arguments: pages)
    func quotations(page: String) throws {
        let sources = try Self.sources.get()
        for block in Self.blocks(try Self.read(page)) {
            if block.hasPrefix(".package(") {
                try expectDependencies(block)
                continue
            }
            let variants =
                [block]
                + Self.replacements.map { pairs in
                    pairs.reduce(block) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
                }
            let isFound = variants.map(Self.squeezed).contains { code in sources.contains { $0.contains(code) } }
            #expect(isFound, "\(block)")
        }
    }

    /// Checks that the traits in a manifest's dependencies on Roost exist.
    private func expectDependencies(_ block: String) throws {
        let manifest = try Self.read("Package.swift")
        for line in block.split(separator: "\n") {
            #expect(line.hasPrefix(#".package(url: "https://github.com/roost/roost.git", from: "#), "\(line)")
            for trait in line.matches(of: #/"([A-Z][A-Za-z]+)"/#) {
                #expect(manifest.contains(#""\#(trait.output.1)""#), "\(trait.output.1)")
            }
        }
    }

    @Test("a link of a documentation page refers to a file that exists", arguments: pages)
    func links(page: String) throws {
        let folder = Self.root.appendingPathComponent(page).deletingLastPathComponent()
        for link in try Self.read(page).matches(of: #/\]\(([^)#\s:]+)(#[^)\s]*)?\)/#) {
            let file = folder.appendingPathComponent(String(link.output.1))
            #expect(FileManager.default.fileExists(atPath: file.path), "\(link.output.0)")
        }
    }

    @Test("the Swift code in docs/errors.md handles the error of a commit with a conflict")
    func conflict() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Album", attributes: [.string("title")])])
        let store = try StoreRegistry.standard.create(StoreLocation(type: "memory", path: ""), model: model)
        var changes = ChangeSet(model: model)
        try changes.update(ObjectID("Album", key: 1), version: 1, values: ["title": "Blue"])
        var printed: [ObjectConflict] = []
        func print(_ conflicts: [ObjectConflict]) { printed = conflicts }
        do {
            _ = try store.commit(changes)
        } catch {
            switch error.code {
            case .conflict: print(error.conflicts)  // Read these objects again, and repeat the change.
            case _ where error.isRetryable: break  // Another process writes; try again.
            default: throw error
            }
        }
        #expect(printed.count == 1)
        try store.close()
    }
}
