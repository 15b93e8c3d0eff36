internal import Foundation

/// Programs of the system that the command starts.
enum SystemProgram {
    /// Returns the path of the first of the given programs that is in PATH, or nil.
    static func path(ofOneOf names: [String]) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return names.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first(where: FileManager.default.isExecutableFile(atPath:))
    }
}
