import Foundation
import Testing

/// A pseudo-terminal in which a command runs.
///
/// It is the controlling terminal of the command's own session, so Ctrl-C works.
final class Terminal {
    private static let sessionProgram = "/usr/bin/setsid"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: sessionProgram)

    private let primary: Int32
    private let process = Process()
    /// The output since the last match of ``expect(_:at:)``.
    private var pending = ""
    private(set) var shown = ""

    init(_ arguments: [String], in place: Workplace, environment: [String: String] = [:]) throws {
        var secondary: Int32 = -1
        var primary: Int32 = -1
        try #require(openpty(&primary, &secondary, nil, nil, nil) == 0)
        try #require(fcntl(primary, F_SETFD, FD_CLOEXEC) == 0)
        self.primary = primary
        let handle = FileHandle(fileDescriptor: secondary, closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: Self.sessionProgram)
        process.arguments = ["-w", "-c", try #require(Workplace.program)] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: place.path)
        var variables = ProcessInfo.processInfo.environment
        variables["TERM"] = "xterm"
        variables["COLUMNS"] = "200"
        variables["NO_COLOR"] = "1"
        variables["XDG_STATE_HOME"] = place.file("state")
        variables["HOME"] = place.path
        for (name, value) in environment { variables[name] = value }
        process.environment = variables
        (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
        try process.run()
    }

    deinit {
        // The command loses its terminal, so it ends.
        close(primary)
    }

    func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        #expect(write(primary, bytes, bytes.count) == bytes.count)
    }

    /// Waits until a text is shown after the last match.
    func expect(_ text: String, at location: SourceLocation = #_sourceLocation) throws {
        // The limit only ends endless waiting.
        let end = ContinuousClock.now + .seconds(60)
        while true {
            if let range = pending.range(of: text) {
                pending.removeSubrange(..<range.upperBound)
                return
            }
            try #require(ContinuousClock.now < end, "\(text) was not shown: \(shown)", sourceLocation: location)
            try #require(read(), "\(text) was not shown before the end: \(shown)", sourceLocation: location)
        }
    }

    /// Reads until the command ends, and returns the exit code.
    func end() throws -> Int32 {
        let limit = ContinuousClock.now + .seconds(60)
        while read() { try #require(ContinuousClock.now < limit, "the command does not end: \(shown)") }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Reads some of the output; returns false after the end.
    private func read() -> Bool {
        var descriptor = pollfd(fd: primary, events: Int16(POLLIN), revents: 0)
        let ready = poll(&descriptor, 1, 100)
        if ready == 0 { return process.isRunning }
        if ready < 0 { return errno == EINTR }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(primary, &bytes, bytes.count)
        guard count > 0 else { return false }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        pending += text
        shown += text
        return true
    }
}
