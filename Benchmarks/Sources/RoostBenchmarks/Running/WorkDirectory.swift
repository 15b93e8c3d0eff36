internal import Foundation

/// A directory with the files of one store.
struct WorkDirectory {
    let path: String

    /// The directory at `path`, which ``clear()`` creates.
    init(path: String) { self.path = path }

    /// The directory that contains a file.
    init(holding file: String) { path = (file as NSString).deletingLastPathComponent }

    /// Removes the content of the directory, or creates the directory if it is missing.
    func clear() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: path) { try manager.removeItem(atPath: path) }
        try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Copies a file and flushes the copy to disk, so that no measured flush includes it.
    func copy(_ source: String, to destination: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: destination)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: destination))
        try handle.synchronize()
        try handle.close()
    }

    func byteCount() throws -> Int {
        let manager = FileManager.default
        return try manager.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
            let attributes = try manager.attributesOfItem(atPath: path + "/" + name)
            // LMDB's table of readers and locks is not a part of the store.
            return name.hasSuffix("-lock") ? sum : sum + ((attributes[.size] as? Int) ?? 0)
        }
    }
}
