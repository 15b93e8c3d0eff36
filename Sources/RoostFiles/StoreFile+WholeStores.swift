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
        let temporary = temporarySibling(of: path)
        // Held until the file has its name: what is locked is not swept away.
        let lock = try StoreLock.acquire(forStoreAt: temporary, .exclusive, timeoutSeconds: 0)
        do throws(StoreError) {
            try createExclusive(at: temporary)
            let file = try WritableFile(at: temporary)
            try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try file.write(bytes, at: 0) }
            try file.sync()
            try file.close()
            try publish(temporary, as: path, overwriting: overwriting)
        } catch {
            // The first error is the one to tell; what stays is swept away later.
            try? remove(temporary)
            try? lock.releaseRemovingFile()
            throw error
        }
        lock.release()
    }

    /// Removes a store that is one file, its lock file, and the link that `path` names if it is one.
    ///
    /// Nothing happens where no file is.
    ///
    /// - Parameters:
    ///   - path: The store.
    ///   - isStore: Whether the file at a path is a store that may be removed.
    /// - Throws: `busy` when somebody holds its ``StoreLock``; `notAStore` when `isStore` says no; `permissionDenied`.
    public static func removeStore(at path: String, isStore: (String) -> Bool) throws(StoreError) {
        let target = resolvingLink(path)
        guard try isRegularFile(at: target) else { return }
        let lock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { lock.release() }
        // Another process may have removed it while this one took the lock.
        guard try isRegularFile(at: target) else { return try lock.releaseRemovingFile() }
        try requireStore(at: target, isStore)
        try remove(target)
        if target != path { try remove(path) }
        try syncDirectory(of: target)
        try lock.releaseRemovingFile()
    }

    /// Gives the store at `source`, which is one file, the name `destination`, atomically and durably.
    ///
    /// Both must be in one directory.
    ///
    /// - Parameters:
    ///   - source: The store; gone under this name afterwards.
    ///   - destination: Its new name.
    ///   - overwriting: Whether a store that has this name may be replaced.
    ///   - isStore: Whether the file at a path is a store of the caller's type.
    /// - Throws: `notFound`; `busy` when somebody holds the ``StoreLock`` of either; `alreadyExists`; `notAStore` when `isStore`
    ///   says no to either file; `permissionDenied`, `ioFailure`.
    public static func moveStore(
        from source: String, to destination: String, overwriting: Bool, isStore: (String) -> Bool
    ) throws(StoreError) {
        let (origin, target) = (resolvingLink(source), resolvingLink(destination))
        try requireRegularFile(at: origin, forWriting: true)
        guard !sameFile(origin, target) else { return }
        // Locked before they are looked at, so that nobody puts another file there meanwhile.
        let originLock = try StoreLock.acquire(forStoreAt: origin, .exclusive, timeoutSeconds: 0)
        defer { originLock.release() }
        try requireStore(at: origin, isStore)
        let targetLock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { targetLock.release() }
        if try isRegularFile(at: target) {
            guard overwriting else {
                throw StoreError(
                    .alreadyExists, "'\(target)' exists already; allow overwriting or choose another name")
            }
            try requireStore(at: target, isStore)
        }
        try syncFile(at: origin)
        try publish(origin, as: target, overwriting: overwriting)
    }

    /// Whether a file is there; throws `notAStore` for whatever else is.
    private static func isRegularFile(at path: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try requireRegularFile(at: path, forWriting: false)
            return true
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            return false
        }
    }

    /// Refuses a file that is no store, so that nothing else is removed or replaced.
    private static func requireStore(at path: String, _ isStore: (String) -> Bool) throws(StoreError) {
        try requireRegularFile(at: path, forWriting: false)
        guard isStore(path) else {
            throw StoreError(
                .notAStore,
                "'\(path)' is no store of this type, so it was left alone; remove it by hand if it is not needed")
        }
    }
}
