import Foundation
import Testing

/// The `sqlite3` command, where there is one: a program that knows nothing of Roost and its lock
/// file.
enum SQLiteShell {
    static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// A statement failed, and this is what the shell says of it.
    struct Failure: Error {
        let message: String
    }

    /// Runs statements, and gives their rows as lines; throws where one fails.
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
