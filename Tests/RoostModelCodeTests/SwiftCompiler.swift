import Foundation
import Testing

/// The Swift compiler, and a module `Roost` with the declarations for generated classes.
struct SwiftCompiler {
    /// The path of `swiftc`, or nil if it is not in `PATH`.
    static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let stub = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures/RoostStub.swift").path

    /// A directory with the compiled module, made once for all tests.
    private static let module = Result {
        let directory = try TemporaryDirectory()
        let result = try run([
            "-emit-module", "-module-name", "Roost", "-swift-version", "6", "-parse-as-library", stub, "-o",
            directory.file("Roost.swiftmodule"),
        ])
        try #require(result.code == 0, "\(result.output)")
        return directory
    }

    /// Type-checks Swift code against the module, and expects no errors and no warnings.
    static func expectValid(
        _ texts: [String], options: [String] = [], sourceLocation location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try typeCheck(texts, options: options + ["-warnings-as-errors"])
        #expect(result.code == 0, "\(result.output)\n\(texts.joined(separator: "\n"))", sourceLocation: location)
    }

    static func typeCheck(_ texts: [String], options: [String] = []) throws -> (code: Int32, output: String) {
        let directory = try TemporaryDirectory()
        var files: [String] = []
        for (number, text) in texts.enumerated() {
            try directory.write(text, to: "\(number).swift")
            files.append(directory.file("\(number).swift"))
        }
        return try run(
            ["-typecheck", "-swift-version", "6", "-parse-as-library", "-I", try module.get().path] + options + files)
    }

    /// Compiles a program from Swift code and the module's source, runs it and returns what it
    /// prints.
    static func output(of texts: [String]) throws -> String {
        let directory = try TemporaryDirectory()
        var files: [String] = [stub]
        for (number, text) in texts.enumerated() {
            // The code is compiled in one module with the stub, so it must not import Roost.
            try directory.write(text.replacingOccurrences(of: "\nimport Roost\n", with: "\n"), to: "\(number).swift")
            files.append(directory.file("\(number).swift"))
        }
        let compiled = try run(
            ["-swift-version", "6", "-parse-as-library", "-o", directory.file("program")] + files)
        try #require(compiled.code == 0, "\(compiled.output)")
        return try Self.run([], program: directory.file("program")).output
    }

    private static func run(_ arguments: [String], program: String? = nil) throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try program ?? #require(path))
        process.arguments = arguments
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
