import Dispatch
public import Foundation
internal import RoostCore
import RoostSystem

/// One run of a program.
public final class Program {
    /// The result of a run.
    public struct End: Sendable, CustomStringConvertible {
        /// The exit status, or the negated number of a signal.
        public var status: Int32
        /// Whether the program was killed because it took too long.
        public var isHanging: Bool
        /// The program's standard error output.
        public var errors: String
        /// The result in one line.
        public var description: String {
            let how = isHanging ? "hang" : status < 0 ? "signal \(-status)" : "exit \(status)"
            return "\(how): \(errors.suffix(300).replacingOccurrences(of: "\n", with: " "))"
        }
    }

    private let process = Process()
    private let output = Pipe()
    private let errorFile: URL
    private var buffer: [UInt8] = []
    private let isHanging = Mutex(false)

    /// Starts a program by its path, or a product beside the tests.
    ///
    /// - Parameters:
    ///   - program: A path, or the name of a product.
    ///   - arguments: Its arguments.
    ///   - directory: Its working directory.
    ///   - input: The file for its standard input; nil for empty input.
    /// - Throws: Errors of finding and starting the program.
    public init(_ program: String, arguments: [String], in directory: String, input: String? = nil) throws {
        errorFile = FileManager.default.temporaryDirectory.appendingPathComponent("roost-errors-\(UUID().uuidString)")
        try Data().write(to: errorFile)
        process.executableURL = program.contains("/") ? URL(fileURLWithPath: program) : try Self.product(program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
    }

    deinit { try? FileManager.default.removeItem(at: errorFile) }

    /// Returns the executable of a product beside the running tests.
    public static func product(_ name: String) throws -> URL {
        var folders = [
            Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        // On macOS, the test bundle is a directory.
        folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        for folder in folders {
            let candidate = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw StoreError(.notFound, "\(name) is in none of \(folders.map(\.path)); build all products first.")
    }

    /// Returns the next complete line of the output, or nil at its end.
    ///
    /// A program that does not write a line in time is killed.
    public func line(withinSeconds seconds: Double) -> String? {
        let alarm = startAlarm(seconds)
        defer { alarm.cancel() }
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

    /// Waits for the end of a program, which is killed when it takes too long.
    public func wait(withinSeconds seconds: Double) -> End {
        let alarm = startAlarm(seconds)
        _ = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        alarm.cancel()
        let errors = (try? Data(contentsOf: errorFile)) ?? Data()
        let status = process.terminationStatus
        return End(
            status: process.terminationReason == .uncaughtSignal ? -status : status,
            isHanging: isHanging.withLock { $0 }, errors: String(decoding: errors, as: UTF8.self))
    }

    /// Kills the program at once.
    public func kill() { if process.isRunning { Self.kill(process.processIdentifier) } }

    private func startAlarm(_ seconds: Double) -> DispatchWorkItem {
        let (identifier, isHanging) = (process.processIdentifier, isHanging)
        let alarm = DispatchWorkItem {
            isHanging.withLock { $0 = true }
            Self.kill(identifier)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: alarm)
        return alarm
    }

    private static func kill(_ process: pid_t) {
        _ = SystemCalls.kill(process)
    }
}
