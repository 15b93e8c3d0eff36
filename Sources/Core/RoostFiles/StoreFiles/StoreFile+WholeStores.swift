public import RoostCore

/// Functions for store types whose stores are single files.
extension StoreFile {
    /// Returns all bytes of a regular file.
    ///
    /// Follows a symbolic link.
    ///
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for a path that is not a file,
    ///   `permissionDenied`; `busy` if another program wrote to the file during the read.
    public static func contents(of path: String) throws(StoreError) -> [UInt8] {
        let file = try RegularFile(at: resolvingLink(path))
        let before = try file.identity()
        let bytes = try file.bytes(at: 0, count: file.byteCount)
        guard try file.identity().isUnchanged(since: before), bytes.count == file.byteCount else {
            throw StoreError(.busy, "'\(path)' was changed by another program while it was read; try again")
        }
        return bytes
    }

    /// Writes a whole file under a temporary name and renames it to `path`, atomically.
    ///
    /// At any instant, either the old or the new file exists at `path`. The file is durable on
    /// return. Readers of the file need no lock. The caller must prevent concurrent writes; see
    /// ``WriterLock``.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - path: The path of the file. If it is a symbolic link, its target is replaced.
    ///   - overwriting: Whether an existing file may be replaced.
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`, `ioFailure`.
    ///   If the directory cannot be flushed, the new file exists but may not be durable. After any
    ///   other error nothing has changed.
    public static func write(_ bytes: [UInt8], as path: String, overwriting: Bool) throws(StoreError) {
        try build(path, lock: .exclusive, overwriting: overwriting) { (temporary) throws(StoreError) in
            try createExclusive(at: temporary)
            let file = try WritableFile(at: temporary)
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try file.write(bytes, at: 0) }
            try file.sync()
            try file.close()
        }
    }
}
