internal import Foundation

/// A worker process, as its parent uses it.
final class WorkerProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    /// Starts this program once more, as a worker.
    ///
    /// With `includesErrors`, the output includes error messages.
    init(_ arguments: [String], includesErrors: Bool = false) throws {
        guard let program = Bundle.main.executablePath else { throw BenchmarkError("This program has no path.") }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        if includesErrors { process.standardError = output }
        try process.run()
    }

    deinit { end() }

    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Requests a round and waits for the reply.
    func round(proving: Bool) throws -> WorkerReply {
        try send(proving ? "prove" : "measure")
        let reply = try JSONDecoder().decode(WorkerReply.self, from: try readLine())
        if let error = reply.error { throw BenchmarkError(error) }
        return reply
    }

    /// Ends the worker and waits until it has exited.
    func end() {
        guard process.isRunning else { return }
        // The input may already be closed, which is not an error.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Waits for the end of a worker that was started for one task.
    ///
    /// Throws the worker's output as an error unless the exit code is 0. The worker must have been
    /// created with `includesErrors`.
    func waitForSuccess() throws {
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    private func readLine() throws -> Data {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(received[..<end])
                received = Data(received[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw BenchmarkError("The worker ended without an answer.") }
            received.append(more)
        }
    }
}
