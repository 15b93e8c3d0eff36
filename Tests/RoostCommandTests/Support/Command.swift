import Foundation
import Roost
import RoostMigration
import RoostSystem
import Testing

/// One finished run of the `roost` program.
struct CommandResult {
    var code: Int32
    var wasKilled: Bool
    var output: String
    var errors: String

    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    /// Expects an exit code and exactly one line on standard error, `roost: …`, that contains
    /// `text`.
    func expectError(
        _ code: Int32, containing text: String = "", at location: SourceLocation = #_sourceLocation
    ) {
        #expect(self.code == code && !wasKilled, "\(errors)", sourceLocation: location)
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.count == 2 && lines.last == "" && errors.hasPrefix("roost: "), "\(errors)", sourceLocation: location)
        #expect(text.isEmpty || errors.contains(text), "\(errors)", sourceLocation: location)
    }
}

/// A temporary directory for one test, in which the `roost` program runs.
final class Workplace: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // If the removal fails, the system later clears its temporary directory.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
    func write(_ bytes: Data, to name: String) throws { try bytes.write(to: URL(fileURLWithPath: file(name))) }

    /// The path of the program beside the tests; nil if the program was not built.
    static let program: String? = {
        let candidates = [Bundle.main.executableURL, URL(fileURLWithPath: CommandLine.arguments[0])].compactMap { $0 }
        return candidates.map { $0.deletingLastPathComponent().appendingPathComponent("roost").path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    /// Starts the program in this directory, with the words of `wrapper` before its path.
    func start(
        _ arguments: [String], through wrapper: [String] = [], input: Any = FileHandle.nullDevice
    ) throws -> RunningCommand {
        try RunningCommand(
            wrapper + [try #require(Self.program, "the roost program was not built")] + arguments, in: path,
            input: input)
    }

    func shell(_ script: String, on store: String = "store", options: String...) throws -> CommandResult {
        try write(Data(script.utf8), to: "script")
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: file("script")))
        return try start(["shell", store] + options, input: input).wait()
    }

    /// Starts `roost shell` on the store `store`; the caller writes statements to `input`.
    func startShell() throws -> (run: RunningCommand, input: FileHandle) {
        let pipe = Pipe()
        return (try start(["shell", "store"], input: pipe), pipe.fileHandleForWriting)
    }

    @discardableResult
    func roost(_ arguments: String..., through wrapper: [String] = []) throws -> CommandResult {
        try start(arguments, through: wrapper).wait()
    }

    /// Creates a store of the music library.
    func makeStore(_ type: String, named name: String, objects: Int = 2000) throws {
        try FileManager.default.createDirectory(atPath: file("demo"), withIntermediateDirectories: false)
        try write(try library(objects: objects), to: "demo/music.sqlite")
        let converted = try roost("convert", "sqlite:demo/music.sqlite", "\(type):\(name)")
        try #require(converted.code == 0, "\(converted.errors)")
        try FileManager.default.removeItem(atPath: file("demo"))
    }

    /// The music library as an SQLite store, by the number of its objects.
    private static let libraries = Mutex<[Int: Data]>([:])

    private func library(objects: Int) throws -> Data {
        if let known = Self.libraries.withLock({ $0[objects] }) { return known }
        let result = try roost("demo", "--objects=\(objects)", "--directory=\(file("made"))")
        try #require(result.code == 0, "\(result.errors)")
        let made = try bytes("made/music.sqlite")
        try FileManager.default.removeItem(atPath: file("made"))
        Self.libraries.withLock { $0[objects] = made }
        return made
    }

    /// The types whose stores are files and can be written.
    static let fileTypes = StoreRegistry.standard.all
        .filter { $0.capabilities.contains(.writing) && $0.capabilities.contains(.file) }.map(\.name)
}

/// A run of the program that may not have ended yet.
///
/// Its outputs go to files, so that no pipe can fill up.
final class RunningCommand {
    let process = Process()
    private let output: URL
    private let errors: URL

    init(_ command: [String], in directory: String, input: Any = FileHandle.nullDevice) throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("roost-run-\(UUID().uuidString)")
        (output, errors) = (place.appendingPathExtension("out"), place.appendingPathExtension("err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: try #require(command.first))
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardInput = input
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    /// Waits until the program has written `count` lines to standard output, or has ended.
    func waitForOutput(lines count: Int) throws {
        while process.isRunning, try Data(contentsOf: output).count(where: { $0 == UInt8(ascii: "\n") }) < count {
            sched_yield()
        }
    }

    func outputSoFar() throws -> String { String(decoding: try Data(contentsOf: output), as: UTF8.self) }

    func wait() throws -> CommandResult {
        process.waitUntilExit()
        let result = CommandResult(
            code: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
        for file in [output, errors] { try FileManager.default.removeItem(at: file) }
        return result
    }
}
