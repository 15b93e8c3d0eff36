import Foundation
import Testing

@Suite("The architecture page and the imports")
struct ArchitectureTests {
    /// A row of the table of modules: a module and its allowed imports.
    private struct Module {
        let name: String
        let folder: String
        let imports: Set<String>
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns the rows `` | `Folder/Module` | what it is | `A`, `B` | `` of ARCHITECTURE.md.
    private static func modules() throws -> [Module] {
        let page = try String(contentsOf: root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
        return page.matches(of: /(?m)^\| `([\w\/]+)` \|[^|\n]*\|([^|\n]*)\|$/).map { row in
            let path = String(row.1)
            return Module(
                name: path == "Conformance"
                    ? "RoostConformance" : path.split(separator: "/").last.map(String.init) ?? path,
                folder: path,
                imports: Set(row.2.matches(of: /`(\w+)`/).map { String($0.1) }))
        }
    }

    /// Returns the modules of this package that a folder imports.
    private static func imports(in folder: URL, among names: Set<String>) throws -> [(file: String, module: String)] {
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8)
                .matches(of: /(?m)^\s*(?:@\w+(?:\([^)]*\))? )*(?:\w+ )?import (?:\w+ )?(\w+)/)
                .map { (file.lastPathComponent, String($0.1)) }.filter { names.contains($0.1) }
        }
    }

    @Test("every module has a row in ARCHITECTURE.md, and every row a folder")
    func rows() throws {
        let rows = try Set(Self.modules().map(\.folder))
        let sources = Self.root.appendingPathComponent("Sources")
        var folders: Set<String> = ["Roost"]
        for group in try FileManager.default.contentsOfDirectory(atPath: sources.path) where group != "Roost" {
            let modules = try FileManager.default.contentsOfDirectory(
                atPath: sources.appendingPathComponent(group).path)
            folders.formUnion(modules.map { "\(group)/\($0)" })
        }
        #expect(rows.filter { $0 != "Conformance" } == folders)
    }

    @Test("a module imports exactly the modules that ARCHITECTURE.md lists")
    func dependencies() throws {
        let modules = try Self.modules()
        let names = Set(modules.map(\.name))
        #expect(modules.count > 20)
        for module in modules where !module.folder.hasPrefix("C/") {
            let folder = module.folder == "Conformance" ? "Conformance" : "Sources/\(module.folder)"
            let found = try Self.imports(in: Self.root.appendingPathComponent(folder), among: names)
            for (file, imported) in found where !module.imports.contains(imported) {
                Issue.record("\(module.name)/\(file) imports \(imported); ARCHITECTURE.md does not allow it")
            }
            let unused = module.imports.subtracting(found.map(\.module))
            #expect(unused.isEmpty, "\(module.name) imports none of these: \(unused.sorted())")
        }
    }

    @Test("the imports between modules have no cycle")
    func hasNoCycle() throws {
        var left = try Dictionary(uniqueKeysWithValues: Self.modules().map { ($0.name, $0.imports) })
        while let next = left.first(where: { $0.value.isDisjoint(with: left.keys) }) {
            left[next.key] = nil
        }
        #expect(left.isEmpty, "a circle among \(left.keys.sorted())")
    }
}
