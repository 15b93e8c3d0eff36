import Foundation

/// A directory for one test, removed when the test releases it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("roost-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        // If the removal fails, the system removes the files.
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String) throws {
        let location = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(
            at: location.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: location)
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

    /// Returns the sorted names in a directory below this one; none if it does not exist.
    func names(in directory: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: file(directory)) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: file(directory)).sorted()
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }
}
