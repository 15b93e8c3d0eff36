package import RoostCore
internal import RoostFiles
package import RoostKeyValue

/// Ordered key-value storage in one LMDB file, which FORMAT.md describes.
///
/// Reads are zero-copy from the mapped file. They run concurrently with the writer, which may be in
/// another process. Each commit is one LMDB transaction, and is durable on return unless the
/// storage was opened unpublished. Any thread may use the storage.
package final class LMDBStorage: OrderedKeyValueStorage, CommitSignaling {
    /// Whether every write throws `readOnly`.
    package let isReadOnly: Bool
    private let path: String
    private let lease: Mutex<EnvironmentLease?>
    private let timeoutSeconds: Double

    private init(_ lease: EnvironmentLease, settings: LMDBSettings) {
        path = lease.environment.path
        isReadOnly = !settings.isWritable
        timeoutSeconds = settings.timeoutSeconds
        self.lease = Mutex(lease)
    }

    /// Opens the storage in an existing file.
    ///
    /// Checks the file first, unless a store in this process or another has it open.
    ///
    /// - Throws: `notFound`, `missingDirectory`, `notAStore`, `unsupportedVersion`, `corrupted`,
    ///   `permissionDenied`, `readOnly`, `busy`, `invalidRequest` for unknown options.
    package static func open(path: String, options: StoreOptions) throws(StoreError) -> LMDBStorage {
        try open(path: path, settings: try LMDBSettings(options))
    }

    static func open(path: String, settings: LMDBSettings) throws(StoreError) -> LMDBStorage {
        try StoreFile.requireRegularFile(at: path, forWriting: settings.isWritable)
        let path = StoreFile.absolutePath(path)
        return LMDBStorage(try EnvironmentRegistry.lease(path: path, settings: settings), settings: settings)
    }

    /// Creates an empty storage in a new file.
    ///
    /// A crash during the creation leaves a file that cannot be opened. So create the file at a
    /// temporary path and publish it.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`,
    ///   `invalidRequest` for unknown options, or if `isReadOnly` is set.
    package static func create(path: String, options: StoreOptions) throws(StoreError) -> LMDBStorage {
        try create(path: path, settings: try LMDBSettings(options))
    }

    static func create(path: String, settings: LMDBSettings) throws(StoreError) -> LMDBStorage {
        guard settings.isWritable else {
            throw StoreError(.invalidRequest, "'\(path)' cannot be created read-only; leave isReadOnly out")
        }
        try StoreFile.requireAbsent(at: path)
        let path = StoreFile.absolutePath(path)
        try StoreFile.createExclusive(at: path)
        do throws(StoreError) {
            return LMDBStorage(
                try EnvironmentRegistry.lease(path: path, settings: settings, isNew: true), settings: settings)
        } catch {
            try? StoreFile.remove(path)
            removeLockFiles(path)
            throw error
        }
    }

    /// Removes the lock files of a store that no longer exists, unless another process is creating
    /// a new store at its path.
    static func removeLockFiles(_ path: String) {
        guard StoreFile.hasEntry(at: StoreLock.path(forStoreAt: path)),
            let lock = try? StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        else { return }
        defer { lock.release() }
        guard !StoreFile.hasEntry(at: path) else { return }
        try? StoreFile.remove(path + "-lock")
        try? lock.releaseRemovingFile()
    }

    /// The store's lock while the storage is open.
    package var commitSignal: (any CommitSignal)? { lease.withLock { $0?.environment.storeLock } }

    /// The maximum size of a key in a standard build of LMDB.
    package var maximumKeyByteCount: Int { Self.longestKeyByteCount }

    static let longestKeyByteCount = 511

    /// Returns a snapshot in O(1), without waiting for writers.
    ///
    /// - Throws: `closed`; `storeReplaced` if the path refers to another file; `corrupted` if the
    ///   file was truncated; `busy` if too many snapshots are open, or if another process enlarged
    ///   the map and open snapshots prevent this process from enlarging its own map.
    package func read() throws(StoreError) -> any KeyValueReader { try LMDBReader(try requireOpen()) }

    /// Runs `body` in a write transaction on the caller's thread.
    ///
    /// If the file's map had to grow, `body` runs again from the start. Growing waits until no
    /// snapshot of this process is open, or throws `busy` after the timeout.
    package func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withLease(try requireWritable()) { (environment) throws(StoreError) in
            try environment.write(timeoutSeconds: timeoutSeconds, body)
        }
    }

    /// Begins a write transaction that spans several calls.
    ///
    /// The uncommitted changes are kept in memory and, beyond about 500 MB, in the file.
    package func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        try LMDBLongWrite(try requireWritable(), timeoutSeconds: timeoutSeconds)
    }

    /// Flushes the file, which is needed only if the file was opened unpublished.
    package func sync() throws(StoreError) {
        try withLease(try requireOpen()) { (environment) throws(StoreError) in try environment.sync() }
    }

    package func byteCount() throws(StoreError) -> Int {
        _ = try requireOpen()
        return try StoreFile.byteCount(at: path)
    }

    /// Checks the file's structure page by page.
    ///
    /// If the storage is writable, other writers wait until the check ends.
    package func integrityFindings() throws(StoreError) -> [StoreFinding] {
        try withLease(try requireOpen()) { (environment) throws(StoreError) in
            try environment.integrityFindings(timeoutSeconds: timeoutSeconds)
        }
    }

    /// Closes the storage.
    ///
    /// The file is closed when all storages and snapshots of this process that use it are closed.
    package func close() throws(StoreError) {
        // The lease is released outside the lock, because closing the file can take a while.
        let last = lease.withLock { lease in
            defer { lease = nil }
            return lease
        }
        withExtendedLifetime(last) {}
    }

    /// Runs `body` while holding the lease, so that closing the storage does not close the file
    /// during the call.
    private func withLease<Result>(
        _ lease: EnvironmentLease, _ body: (LMDBEnvironment) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        defer { withExtendedLifetime(lease) {} }
        return try body(lease.environment)
    }

    private func requireOpen() throws(StoreError) -> EnvironmentLease {
        guard let lease = lease.withLock({ $0 }) else { throw StoreError(.closed, "'\(path)' was closed before") }
        return lease
    }

    private func requireWritable() throws(StoreError) -> EnvironmentLease {
        let lease = try requireOpen()
        guard !isReadOnly else { throw StoreError(.readOnly, "'\(path)' was opened read-only; open it for writing") }
        return lease
    }
}
