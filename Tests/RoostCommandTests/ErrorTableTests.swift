import Foundation
import Roost
import Testing

@testable import RoostCommand

@Suite("docs/errors.md")
struct ErrorTableTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private struct Row {
        var code: String
        var cells: [String]
        var isRetryable: Bool { cells[2] == "yes" }
        var exit: String { cells[3] }
    }

    private static func page() throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/errors.md"), encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        try page().split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.dropFirst().dropLast().components(separatedBy: "|")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            return Row(code: cells[0].trimmingCharacters(in: ["`"]), cells: Array(cells.dropFirst()))
        }
    }

    private static func definedCodes() throws -> Set<String> {
        var codes: Set<String> = []
        let sources = root.appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for part in text.components(separatedBy: "extension StoreError.Code {").dropFirst() {
                let body = part.components(separatedBy: "\n}")[0]
                for match in body.matches(of: /public static let (\w+) = Self\("(\w+)"\)/) {
                    #expect(match.1 == match.2)
                    codes.insert(String(match.2))
                }
            }
        }
        return codes
    }

    @Test("docs/errors.md lists every error code of the sources exactly once")
    func complete() throws {
        let listed = try Self.rows().map(\.code)
        #expect(listed == listed.sorted())
        let defined = try Self.definedCodes()
        #expect(defined.count > 35)
        #expect(Set(listed).count == listed.count)
        #expect(defined.subtracting(listed) == [], "missing in docs/errors.md")
        #expect(Set(listed).subtracting(defined) == [], "only in docs/errors.md")
    }

    @Test("docs/errors.md gives the exit code of each error code, and whether to retry")
    func rows() throws {
        for row in try Self.rows() {
            try #require(row.cells.count == 4, "\(row.code)")
            #expect(row.cells[0].hasSuffix(".") && row.cells[1].hasSuffix("."), "\(row.code)")
            let code = StoreError.Code(row.code)
            #expect(row.isRetryable == StoreError(code, "").isRetryable, "\(row.code)")
            #expect(row.isRetryable || row.cells[2] == "no", "\(row.code)")
            let exit = RoostTool.exitCode(of: code).rawValue
            let expected = UsageError.readingCodes.contains(code) ? "\(exit) or 2" : "\(exit)"
            #expect(row.exit == expected, "\(row.code)")
        }
    }

    @Test("docs/errors.md lists every exit code of the command")
    func exitCodes() throws {
        let lines = try Self.page().split(separator: "\n").filter { $0.wholeMatch(of: /\| \d+ \|.*/) != nil }
        let listed = lines.compactMap { Int32($0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces)) }
        #expect(listed == [0, 1, 2, 3, 130])
        for code in listed { #expect(ExitCode(rawValue: code) != nil) }
    }
}
