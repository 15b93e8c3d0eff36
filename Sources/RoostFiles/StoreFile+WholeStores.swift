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
    ///   - companions: What follows the store's name in the names of files that go with it, such as a journal; see
    ///     ``removeCompanions(of:_:)``.
    ///   - isStore: Whether the file at a path is a store that may be removed.
    ///   - requireOwnCompanions: Checks, under the store's lock, that the companions belong to the
    ///     store at a path. Does nothing by default; ``requireOwnCompanions(_:ofStoreAt:)`` is
    ///     always called.
    /// - Throws: `busy` when another program holds its ``StoreLock``; `notAStore` when `isStore`
    ///   returns false or a companion is another program's file; `permissionDenied`; what
    ///   `requireOwnCompanions` throws.
    public static func removeStore(
        at path: String, companions: [String] = [], isStore: (String) -> Bool,
        requireOwnCompanions: (String) throws(StoreError) -> Void = { (_) throws(StoreError) in }
    ) throws(StoreError) {
        let target = resolvingLink(path)
        guard try hasStore(at: target, isStore) else { return }
        let lock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { lock.release() }
        // Once more under the lock: another process may have removed or replaced it meanwhile.
        guard try hasStore(at: target, isStore) else { return try lock.releaseRemovingFile() }
        try requireOwnCompanions(target)
        // A journal must never be found beside another store of the same name, so it goes first.
        try removeCompanions(of: target, companions)
        try remove(target)
        if target != path { try remove(path) }
        try syncDirectory(of: target)
        try lock.releaseRemovingFile()
    }

    /// Gives the closed store at `source`, which is one file, the name `destination`, atomically and durably.
    ///
    /// Both must be in one directory.
    ///
    /// - Parameters:
    ///   - source: The store; gone under this name afterwards.
    ///   - destination: Its new name.
    ///   - overwriting: Whether a store that has this name may be replaced.
    ///   - companions: What follows a store's name in the names of files that mean nothing once it is closed; they are removed.
    ///     Where no store has the destination's name, anything else in their place is refused.
    ///   - isStore: Whether the file at a path is a store of the caller's type.
    /// - Throws: `notFound`; `invalidRequest` when both are one file; `busy` when somebody holds the ``StoreLock`` of either; `alreadyExists`, also when something
    ///   else has the name of a companion; `notAStore` when `isStore` returns false for either
    ///   file, or a companion of either is another program's file; `hasOtherNames`;
    ///   `permissionDenied`, `ioFailure`.
    public static func moveStore(
        from source: String, to destination: String, overwriting: Bool, companions: [String] = [],
        isStore: (String) -> Bool
    ) throws(StoreError) {
        let (origin, target) = (resolvingLink(source), resolvingLink(destination))
        try requireRegularFile(at: origin, forWriting: true)
        guard !sameFile(origin, target) else {
            throw StoreError(.invalidRequest, "'\(target)' cannot be replaced with itself.")
        }
        /// Whether there is a store to be replaced.
        func requireMovable() throws(StoreError) -> Bool {
            guard try hasStore(at: origin, isStore) else {
                throw StoreError(.notFound, "'\(origin)' was removed by another program; nothing was replaced")
            }
            if overwriting, try hasStore(at: target, isStore) { return true }
            // Nor may a dangling link have the name.
            try requireAbsent(at: target)
            try requireNoCompanions(of: target, companions)
            return false
        }
        // Before the locks, so that no lock file is made beside what is no store, and again under them.
        _ = try requireMovable()
        let originLock = try StoreLock.acquire(forStoreAt: origin, .exclusive, timeoutSeconds: 0)
        defer { originLock.release() }
        let targetLock = try StoreLock.acquire(forStoreAt: target, .exclusive, timeoutSeconds: 0)
        defer { targetLock.release() }
        let isReplacing = try requireMovable()
        for path in isReplacing ? [origin, target] : [origin] {
            try requireOneName(ofStoreAt: path, forWriting: true)
            try requireOwnCompanions(companions, ofStoreAt: path)
        }
        if isReplacing {
            try removeCompanions(of: target, companions)
        } else {
            try removeLeftovers(of: target, companions)
        }
        try removeCompanions(of: origin, companions)
        try syncFile(at: origin)
        try publish(origin, as: target, overwriting: overwriting)
    }

    /// Whether a store is there; throws `notAStore` for whatever else is, so that nothing else is removed or replaced.
    private static func hasStore(at path: String, _ isStore: (String) -> Bool) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try requireRegularFile(at: path, forWriting: false)
        } catch  where error.code == .notFound || error.code == .missingDirectory {
            return false
        }
        guard isStore(path) else {
            throw StoreError(
                .notAStore,
                "'\(path)' is no store of this type, so it was left alone; remove it by hand if it is not needed")
        }
        return true
    }
}
