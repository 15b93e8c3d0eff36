import Dispatch
import Foundation
import RoostCore
import RoostSystem

/// One run of a program that was built with the tests.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private var buffer: [UInt8] = []

    /// Starts `CrashChild` with options of the store's type, as `name=value`.
    convenience init(_ mode: String, at location: StoreLocation, options: [String] = []) throws {
        try self.init(program: "CrashChild", arguments: [mode, location.description] + options)
    }

    init(program: String, arguments: [String], environment: [String: String] = [:]) throws {
        // Writing to a dead child must be an error, and not end the tests.
        Platform.ignoreBrokenPipes()
        process.executableURL = try Self.executable(program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    private static func executable(_ program: String) throws -> URL {
        // The test bundle on macOS is a directory; on Linux tests run from an executable in the
        // products directory.
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        for folder in folders {
            let candidate = folder.appendingPathComponent(program)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw StoreError(.notFound, "\(program) is in none of \(folders.map(\.path)); build all products first.")
    }

    /// Returns the next line of the child's output, or nil at its end.
    func line() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            buffer += data
        }
    }

    /// Returns the next line, or nil at the end; kills the child after the time limit.
    func line(withinSeconds seconds: Double) -> String? {
        let identifier = process.processIdentifier
        let alarm = DispatchWorkItem { _ = Platform.kill(identifier) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: alarm)
        defer { alarm.cancel() }
        return line()
    }

    func write(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

    /// Returns the number of the next line, which must be `<word> <number>`, or nil at the end.
    func number(_ word: String) throws -> Int64? {
        guard let line = line() else { return nil }
        guard line.hasPrefix(word + " "), let number = Int64(line.dropFirst(word.count + 1)) else {
            throw StoreError(.internalInconsistency, "the child said '\(line)' where '\(word) <number>' was expected")
        }
        return number
    }

    func closeInput() throws { try input.fileHandleForWriting.close() }

    func kill() {
        guard process.isRunning else { return }
        _ = Platform.kill(process.processIdentifier)
    }

    /// Waits for the child; returns its exit status, negative for a signal, and its standard error.
    func wait() -> (status: Int32, errors: String) {
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (
            process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus, text
        )
    }
}

private enum Platform {
    static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    static func kill(_ process: pid_t) -> Int32 {
        #if canImport(Glibc)
            Glibc.kill(process, SIGKILL)
        #elseif canImport(Musl)
            Musl.kill(process, SIGKILL)
        #else
            Darwin.kill(process, SIGKILL)
        #endif
    }
}
