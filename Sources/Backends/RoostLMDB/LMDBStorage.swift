package import RoostCore
internal import RoostFiles
package import RoostKeyValue

/// Ordered key-value storage in one LMDB file.
///
/// FORMAT.md describes its content.
///
/// Reads are zero-copy from the mapped file and side by side with the writer, in this process and
/// others. Each commit is one LMDB transaction, durable on return. Safe for use from any thread.
package final class LMDBStorage: OrderedKeyValueStorage, CommitSignaling {
    /// Whether every write throws code `readOnly`.
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

    /// Opens the storage in an existing file, after examining it unless it is already open.
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
    /// A crash meanwhile leaves a file that cannot be opened: create it under a temporary name and
    /// publish it.
    ///
    /// - Throws: `alreadyExists`, `missingDirectory`, `permissionDenied`, `noSpace`,
    ///   `invalidRequest` for unknown or read-only options.
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
            // The first error is reported.
            try? StoreFile.remove(path)
            removeLockFiles(path)
            throw error
        }
    }

    /// Removes the lock files of a store that no longer exists, unless another process makes a new
    /// one with its name.
    static func removeLockFiles(_ path: String) {
        guard StoreFile.hasEntry(at: StoreLock.path(forStoreAt: path)),
            let lock = try? StoreLock.acquire(forStoreAt: path, mode: .exclusive, timeoutSeconds: 0)
        else { return }
        defer { lock.release() }
        guard !StoreFile.hasEntry(at: path) else { return }
        try? StoreFile.remove(path + "-lock")
        try? lock.releaseRemovingFile()
    }

    /// The store's lock, as long as the storage is open.
    package var commitSignal: (any CommitSignal)? { lease.withLock { $0?.environment.storeLock } }

    /// The longest key LMDB takes as it is built everywhere.
    package var maximumKeyByteCount: Int { Self.longestKeyByteCount }

    static let longestKeyByteCount = 511

    /// A snapshot: O(1), and without waiting for writers.
    ///
    /// - Throws: `closed`; `storeReplaced` if the name refers to another file; `corrupted` if the
    ///   file was cut; `busy` if too many snapshots are open, or if another process made the file's
    ///   map larger and snapshots of this one are in the way.
    package func read() throws(StoreError) -> any KeyValueReader { try LMDBReader(try requireOpen()) }

    /// Runs `body` in a write transaction, on the caller's thread; again from the start when the
    /// file's map had to grow.
    ///
    /// The map begins as large as the disk's free space, so it grows only when space was freed
    /// later. Growing waits until no snapshot of this process is open, up to the timeout, and then
    /// throws code `busy`.
    package func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withLease(try requireWritable()) { (environment) throws(StoreError) in
            try environment.write(timeoutSeconds: timeoutSeconds, body)
        }
    }

    /// Starts a write transaction that lasts over several calls.
    ///
    /// Its changes live in memory and, past about 500 MB, in the file.
    package func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        try LMDBLongWrite(try requireWritable(), timeoutSeconds: timeoutSeconds)
    }

    /// Flushes the file.
    ///
    /// Needed only for one that was opened unpublished.
    package func sync() throws(StoreError) {
        try withLease(try requireOpen()) { (environment) throws(StoreError) in try environment.sync() }
    }

    /// The size of the file.
    package func byteCount() throws(StoreError) -> Int {
        _ = try requireOpen()
        return try StoreFile.byteCount(at: path)
    }

    /// Examines the file's structure page by page; a writer has to wait meanwhile.
    package func integrityFindings() throws(StoreError) -> [StoreFinding] {
        try withLease(try requireOpen()) { (environment) throws(StoreError) in
            try environment.integrityFindings(timeoutSeconds: timeoutSeconds)
        }
    }

    /// Closes the storage.
    ///
    /// The file is closed when the last opening and the last snapshot in this process are.
    package func close() throws(StoreError) {
        // The lease is released outside the lock, because closing a file can take a while.
        let last = lease.withLock { lease in
            defer { lease = nil }
            return lease
        }
        withExtendedLifetime(last) {}
    }

    /// Runs `body` and holds the lease meanwhile: without one, closing the storage would close the
    /// file under a call that uses it.
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
