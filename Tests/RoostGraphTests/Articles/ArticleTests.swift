import Foundation
import Roost
import RoostGraph
import Testing

/// The code of the articles about objects, except the code of example programs.
@Suite("The articles about objects")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static let pages = [
        "objects", "getting-started", "contexts-and-concurrency", "relationships-and-delete-rules", "conflicts",
        "undo", "following-changes", "for-core-data-users",
    ]

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/\(name).md"), encoding: .utf8)
    }

    /// Returns the text without white space, which the formatter changes.
    private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("articles about objects quote code that is compiled and run", arguments: pages)
    func quotations(_ name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }
        for example in ["Tutorial", "Notes"] {
            let files = FileManager.default.enumerator(
                at: Self.root.appendingPathComponent("Examples/\(example)"), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files)
            where file.pathExtension == "swift" && !file.path.contains("/.build/") {
                sources.append(try String(contentsOf: file, encoding: .utf8))
            }
        }
        let page = try Self.page(name)
        // Tests/strangers writes the files of a page, and builds and runs them.
        let files = page.components(separatedBy: "\n<!-- file: ").dropFirst().compactMap { part in
            let parts = part.components(separatedBy: " -->\n```swift\n")
            return parts.count > 1 && !parts[0].contains("\n") ? parts[1].components(separatedBy: "```")[0] : nil
        }
        let quoted = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        let texts = sources.map(Self.squeezed)
        for code in quoted where !files.contains(code) {
            #expect(texts.contains { $0.contains(Self.squeezed(code)) }, "\(code)")
        }
    }

    @Test(
        "the article about concurrency lists each mistake with its diagnostic and remedy",
        arguments: IsolationProgram.all)
    func diagnostics(_ program: IsolationProgram) throws {
        let page = try Self.page("contexts-and-concurrency")
        for text in [program.name, program.wrong, program.right, program.diagnostic] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test("the article for Core Data users names only symbols of the API lists")
    func names() throws {
        let folder = Self.root.appendingPathComponent("docs/api")
        var known: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // A line has the form `Type.member(label:): declaration`.
                guard let end = line.range(of: ": ") else { continue }
                let name = line[..<end.lowerBound]
                let member = name.split(separator: ".").last.map(String.init) ?? String(name)
                known.formUnion([String(name), member])
                if let type = name.split(separator: ".").first { known.insert(String(type)) }
                if let base = member.split(separator: "(").first { known.insert(String(base)) }
            }
        }
        let rows = try Self.page("for-core-data-users").split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count > 100)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count > 2 else { continue }
            for (number, part) in cells[2].components(separatedBy: "`").enumerated() where number % 2 == 1 {
                let name = part.split(separator: ".", omittingEmptySubsequences: true).last.map(String.init) ?? part
                // Fragments of code and names of models are not in the lists.
                guard name.allSatisfy({ $0.isLetter || $0.isNumber || "_:()".contains($0) }) else { continue }
                #expect(known.contains(name) || known.contains(part), "\(part) in: \(row)")
            }
        }
    }

    /// Runs `body` on each backend with an album that has three tracks.
    func onEachBackend(
        _ body: (PersistentContainer, ManagedObjectContext, Album) throws -> Void
    ) throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            (artist.name, album.title, album.year, album.artist) = ("Joni Mitchell", "Blue", 1971, artist)
            for title in ["All I Want", "Carey", "River"] {
                let track: Track = try context.insert()
                track.title = title
                album.tracks.append(track)
            }
            try context.save()
            try body(container, context, album)
        }
    }
}
