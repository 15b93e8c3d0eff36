internal import Foundation
internal import RoostCore

/// A second process that runs the commands of a check.
final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []
    private var isKilled = false

    init(_ program: PeerProgram) throws {
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments = program.arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { try? kill() }

    /// Sends a command and returns the words of the answer after `ok`.
    ///
    /// - Throws: The store error of the peer, or a mismatch if no valid answer comes within a
    ///   minute.
    @discardableResult
    func ask(_ command: String) throws -> [String] {
        try tell(command)
        guard let line = try line() else {
            try kill()
            let cause = process.terminationReason == .uncaughtSignal ? "signal" : "status"
            throw Mismatch(
                expected: "an answer to '\(command)' from the other process",
                actual: "it ended with \(cause) \(process.terminationStatus)")
        }
        let words = line.split(separator: " ").map(String.init)
        switch words.first {
        case "ok": return Array(words.dropFirst())
        case "error" where words.count > 1:
            throw StoreError(StoreError.Code(words[1]), words.dropFirst(2).joined(separator: " "))
        default: throw Mismatch(expected: "an answer to '\(command)' from the other process", actual: "'\(line)'")
        }
    }

    func askNumber(_ command: String) throws -> Int64 {
        try require(try ask(command).first.flatMap { Int64($0) }, "a number from the other process for '\(command)'")
    }

    /// Sends a command without waiting for an answer.
    func tell(_ command: String) throws {
        do {
            try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        } catch {
            throw Mismatch(expected: "the other process takes '\(command)'", actual: "\(error)")
        }
    }

    /// Returns the number of the next `acked <n>`, or nil after the end of the process.
    func acknowledged() throws -> Int64? {
        guard let line = try line() else { return nil }
        guard line.hasPrefix("acked "), let number = Int64(line.dropFirst(6)) else {
            throw Mismatch(expected: "'acked <n>' from the other process", actual: "'\(line)'")
        }
        return number
    }

    /// Kills the process and waits for its end; further calls do nothing.
    func kill() throws {
        guard !isKilled else { return }
        isKilled = true
        if process.isRunning { try ProcessCalls.kill(process.processIdentifier) }
        process.waitUntilExit()
    }

    /// Returns the next line of the process's output, or nil at its end.
    private func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            // Reads on its own thread, so that a hanging process does not stop the whole suite.
            let handle = output.fileHandleForReading
            let data = try Background { handle.availableData }.value()
            guard !data.isEmpty else { return nil }
            buffer += data
        }
    }
}
