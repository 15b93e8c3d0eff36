public import RoostCore

/// Functions for types whose stores are one file each.
extension StoreFile {
    /// Returns all bytes of a regular file.
    ///
    /// Follows a symbolic link.
    ///
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for anything but a file,
    ///   `permissionDenied`; `busy` if another program wrote to the file meanwhile, so that its
    ///   bytes may be of two states.
    public static func contents(of path: String) throws(StoreError) -> [UInt8] {
        let file = try RegularFile(at: resolvingLink(path))
        let before = try file.identity()
        let bytes = try file.bytes(at: 0, count: file.byteCount)
        guard try file.identity().isUnchanged(since: before), bytes.count == file.byteCount else {
            throw StoreError(.busy, "'\(path)' was changed by another program while it was read; try again")
        }
        return bytes
    }

    /// Writes a whole file under a temporary name and gives it its own, atomically.
    ///
    /// At any instant either the old file or the new one exists. The file is durable on return.
    /// Readers of the file need no lock. The caller must keep two writers apart: see
    /// ``WriterLock``.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - path: Its name. A symbolic link stays, and the file that it refers to is replaced.
    ///   - overwriting: Whether a file under the name may be replaced.
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`, after which
    ///   nothing has changed; `ioFailure`, after which the new file may exist but not be durable.
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
