internal import Foundation
internal import RoostCore
internal import RoostFiles

/// A search for the processes that have a store open.
enum FileUsers {
    private static let limit = 8

    /// Returns at most ``limit`` processes that have the store's file or lock file open, each as
    /// `process 123 (name)`.
    ///
    /// Returns an empty list on systems without `/proc`. Omits processes that end during the search
    /// or that this user cannot inspect.
    static func names(ofStoreAt path: String) -> [String] {
        let files = FileManager.default
        let wanted = [path, StoreLock.path(forStoreAt: path)].map {
            URL(fileURLWithPath: $0).resolvingSymlinksInPath().path
        }
        guard let processes = try? files.contentsOfDirectory(atPath: "/proc") else { return [] }
        var names: [String] = []
        for process in processes.compactMap({ Int32($0) }).sorted() where names.count < limit {
            let folder = "/proc/\(process)/fd"
            guard let descriptors = try? files.contentsOfDirectory(atPath: folder),
                descriptors.contains(where: {
                    (try? files.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")).map(wanted.contains) ?? false
                })
            else { continue }
            names.append("process \(process)\(name(of: process))")
        }
        return names
    }

    private static func name(of process: Int32) -> String {
        if process == ProcessInfo.processInfo.processIdentifier { return " (this one)" }
        guard let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else { return "" }
        return " (\(text.filter { !$0.isNewline }))"
    }
}
