import Foundation
import Roost
import RoostStores
import Testing

@Suite("The README's configuration")
struct ReadmeConfigurationTests {
    /// Runs the README's program with another file.
    private func program(_ file: String, print: (Int) -> Void) throws {
        let configuration = try RoostConfiguration(file: file)
        let store = try Store.open(in: configuration)
        try store.insert("Artist", rows: [["name": "Joni Mitchell"]])
        print(try store.count("Artist"))
        try store.close()
    }

    @Test("the README's program changes its backend by one line of configuration", arguments: writableTypes)
    func backends(type: String) throws {
        let folder = try Folder()
        let readme = try Self.readme()
        let written = try #require(readme.components(separatedBy: "```json5\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        let lines = written.components(separatedBy: "\n")
        let chosen = lines.map { $0.replacingOccurrences(of: "type: \"sqlite\"", with: "type: \"\(type)\"") }
        #expect(zip(lines, chosen).count { $0 != $1 } == (type == "sqlite" ? 0 : 1))
        let file = try folder.write(chosen.joined(separator: "\n"), to: "roost.json")
        try folder.write(String(decoding: try model().document(), as: UTF8.self), to: "Music.roostmodel.json")

        var printed: [Int] = []
        try program(file) { printed.append($0) }
        try program(file) { printed.append($0) }
        #expect(printed == [1, 2])

        let location = try RoostConfiguration(file: file, environment: [:]).storeDescription().location
        #expect(location.type == type)
        try StoreRegistry.standard.type(named: type).destroy(location)
    }

    @Test("the README's program is tested as it is written")
    func text() throws {
        let tested = Self.squeezed(try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8))
        let programs = try Self.readme().components(separatedBy: "import Roost\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        let program = try #require(programs.first { $0.contains("RoostConfiguration()") })
        #expect(
            tested.contains(
                Self.squeezed(program).replacingOccurrences(
                    of: "RoostConfiguration()", with: "RoostConfiguration(file:file)")))
    }

    private static func readme() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    }

    /// Returns the text without white space, which the formatter changes.
    private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}
