public import RoostCore

/// What a type of store needs whose stores are one file each.
extension StoreFile {
    /// All bytes of a regular file, or of the one a link leads to.
    ///
    /// - Throws: `notFound`, `missingDirectory`, `notAStore` for whatever is not a file, `permissionDenied`; `busy` when another
    ///   program wrote to the file meanwhile, so that its bytes may be of two states.
    public static func contents(of path: String) throws(StoreError) -> [UInt8] {
        let file = try RegularFile(at: resolvingLink(path))
        let before = try file.identity()
        let bytes = try file.bytes(at: 0, count: file.byteCount)
        guard try file.identity().isUnchanged(since: before), bytes.count == file.byteCount else {
            throw StoreError(.busy, "'\(path)' was changed by another program while it was read; try again")
        }
        return bytes
    }

    /// Writes a whole file under a temporary name and gives it its own, atomically: at any instant the old file or the new one is there.
    ///
    /// Durable on return. Who reads the file under its name meanwhile needs no lock. Two writers must be kept apart by the
    /// caller: see ``WriterLock``.
    ///
    /// - Parameters:
    ///   - bytes: What the file is to hold.
    ///   - path: Its name; a link stays a link, and the file it leads to is replaced.
    ///   - overwriting: Whether a file under the name may be replaced.
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`, after which nothing has changed; `ioFailure`,
    ///   after which the new file may be there already but not be durable.
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
