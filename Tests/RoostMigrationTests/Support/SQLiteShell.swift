import Foundation
import Testing

/// The `sqlite3` command, if available, which ignores Roost's lock file.
enum SQLiteShell {
    static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    struct Failure: Error {
        let message: String
    }

    /// Runs statements, and returns their rows as lines.
    @discardableResult
    static func run(_ sql: String, on file: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = ["-batch", "-bail", file, sql]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(message: message) }
        return text.split(separator: "\n").map(String.init)
    }
}
