internal import Foundation
internal import RoostCore

/// A second process that does what a check tells it.
final class Peer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var buffer: [UInt8] = []
    private var isKilled = false

    /// Starts the program.
    init(_ program: PeerProgram) throws {
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments = program.arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { try? kill() }

    /// Sends a command and gives the words of the answer after `ok`.
    ///
    /// - Throws: The store's error that the peer met, or a mismatch; a minute without an answer is
    ///   one.
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

    /// The number that answers a command.
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

    /// The number of the next `acked <n>`; nil when the process has ended.
    func acknowledged() throws -> Int64? {
        guard let line = try line() else { return nil }
        guard line.hasPrefix("acked "), let number = Int64(line.dropFirst(6)) else {
            throw Mismatch(expected: "'acked <n>' from the other process", actual: "'\(line)'")
        }
        return number
    }

    /// Kills the process, which gets no chance to do anything, and waits for its end; once is
    /// enough.
    func kill() throws {
        guard !isKilled else { return }
        isKilled = true
        if process.isRunning { try ProcessCalls.kill(process.processIdentifier) }
        process.waitUntilExit()
    }

    /// The next line of what the process writes; nil at the end.
    private func line() throws -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            // On a thread of its own, so that a process that hangs does not stop the whole suite.
            let handle = output.fileHandleForReading
            let data = try Background { handle.availableData }.value()
            guard !data.isEmpty else { return nil }
            buffer += data
        }
    }
}
