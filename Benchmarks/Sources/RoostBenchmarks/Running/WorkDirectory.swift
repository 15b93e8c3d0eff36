internal import Foundation

/// A directory with the files of one store.
struct WorkDirectory {
    let path: String

    /// The directory at `path`, which is made when it is cleared.
    init(path: String) { self.path = path }

    /// The directory in which a file is.
    init(holding file: String) { path = (file as NSString).deletingLastPathComponent }

    /// Removes everything in it.
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

    /// The bytes of all files in it.
    func byteCount() throws -> Int {
        let manager = FileManager.default
        return try manager.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
            let attributes = try manager.attributesOfItem(atPath: path + "/" + name)
            // LMDB's table of readers and locks is not what a store takes.
            return name.hasSuffix("-lock") ? sum : sum + ((attributes[.size] as? Int) ?? 0)
        }
    }
}
