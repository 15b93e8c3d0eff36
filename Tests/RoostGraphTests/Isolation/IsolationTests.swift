import Foundation
import RoostSystem
import Testing

/// Runs the compiler on programs that use contexts, against the modules of this build.
@Suite("Isolation")
struct IsolationTests {
    struct Compiler {
        let modules: String
        let path: String

        /// Returns the compiler and the modules beside the test bundle; nil if one is missing.
        static func find() -> Compiler? {
            var directory = URL(
                fileURLWithPath: CommandLine.arguments.first { $0.contains(".xctest") } ?? Bundle.main.bundlePath)
            while directory.path != "/" {
                let modules = directory.appending(path: "Modules")
                if FileManager.default.fileExists(atPath: modules.appending(path: "RoostGraph.swiftmodule").path) {
                    for folder in (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") {
                        let path = "\(folder)/swiftc"
                        if FileManager.default.isExecutableFile(atPath: path) {
                            return Compiler(modules: modules.path, path: path)
                        }
                    }
                }
                directory.deleteLastPathComponent()
            }
            return nil
        }

        func errors(in text: String) throws -> [(line: Int, message: String)] {
            let directory = FileManager.default.temporaryDirectory.appending(path: "isolation-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let file = directory.appending(path: "program.swift")
            try text.write(to: file, atomically: true, encoding: .utf8)
            let log = directory.appending(path: "log")
            try Data().write(to: log)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = [
                "-swift-version", "6", "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
                "-parse-as-library", "-wmo", "-emit-sil", "-o", "/dev/null", "-diagnostic-style", "llvm", "-I", modules,
                file.path,
            ]
            // Modules of C targets, which the package's modules import.
            let sources = URL(fileURLWithPath: #filePath).appending(path: "../../../../Sources/C").standardized
            let products = URL(fileURLWithPath: modules).deletingLastPathComponent()
            for map in [
                products.appending(path: "CRoostSystem.build/module.modulemap"),
                sources.appending(path: "CXXHash/module.modulemap"),
                sources.appending(path: "CSQLite/module.modulemap"),
                sources.appending(path: "CLMDB/module.modulemap"), sources.appending(path: "CZlib/module.modulemap"),
                sources.appending(path: "CPostgreSQL/module.modulemap"),
            ] where FileManager.default.fileExists(atPath: map.path) {
                process.arguments?.append(contentsOf: ["-Xcc", "-fmodule-map-file=\(map.path)"])
            }
            let handle = try FileHandle(forWritingTo: log)
            process.standardError = handle
            process.standardOutput = handle
            try process.run()
            process.waitUntilExit()
            try handle.close()
            return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap { line in
                guard let range = line.range(of: ": error: ") else { return nil }
                let place = line[..<range.lowerBound].split(separator: ":")
                guard place.count >= 2, let number = Int(place[place.count - 2]) else {
                    return (0, String(line[range.upperBound...]))
                }
                return (number, String(line[range.upperBound...]))
            }
        }
    }

    private static func skip() {
        withKnownIssue("The compiler or the modules were not found.") { Issue.record("skipped") }
    }

    private static let imports = "import Foundation\nimport RoostCore\nimport RoostGraph\n"

    @Test("programs that use objects only in their own isolation compile")
    func right() throws {
        guard let compiler = Compiler.find() else { return Self.skip() }
        let text = Self.imports + IsolationProgram.all.map { $0.text(isRight: true) }.joined(separator: "\n")
        let errors = try compiler.errors(in: text)
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test("programs that use objects in other isolations do not compile", arguments: IsolationProgram.Phase.allCases)
    func wrong(_ phase: IsolationProgram.Phase) throws {
        guard let compiler = Compiler.find() else { return Self.skip() }
        var text = Self.imports
        var lines: [(program: IsolationProgram, range: ClosedRange<Int>)] = []
        for program in IsolationProgram.all where program.phase == phase {
            let first = text.split(separator: "\n", omittingEmptySubsequences: false).count
            let own = program.text(isRight: false)
            text += own + "\n"
            let count = own.split(separator: "\n", omittingEmptySubsequences: false).count
            lines.append((program, first...(first + count - 1)))
        }
        let errors = try compiler.errors(in: text)
        for (program, range) in lines {
            let own = errors.filter { range.contains($0.line) }
            #expect(
                own.contains { $0.message.contains(program.diagnostic) },
                "\(program.name): \(own.map(\.message))")
        }
        let known = errors.filter { error in !lines.contains { $0.range.contains(error.line) } }
        #expect(known.isEmpty, "\(known)")
    }
}
