internal import CLMDB
internal import Dispatch
internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue
internal import RoostSystem

/// The LMDB environment of an open file, shared by all stores of this process that use the file.
///
/// The gate counts open transactions. The map is moved and the handle is replaced only under the
/// gate's lock, while the count is zero. LMDB itself does not wait for readers, and a moved map
/// would make the readers' pointers invalid.
final class LMDBEnvironment: Sendable {
    /// The handle and the state that depends on it.
    struct Gate {
        // SAFETY: `handle` is used only under the gate's lock, or while `activeCount` is above
        // zero, which prevents its replacement.
        var handle: OpaquePointer?
        var databases: [MDB_dbi] = []
        var mapByteCount = 0
        /// The number of open transactions and running flushes.
        var activeCount = 0
        var writeCount: UInt64 = 0
        /// Read transactions that were reset and can be renewed.
        var pool: [OpaquePointer] = []
        /// The number of reader slots of all processes together.
        var readerCount = 0
        /// Whether the handle must be replaced, for example after a failure.
        var needsReopening = false
        var isWritable = false
    }

    let path: String
    let settings: LMDBSettings
    let gate = Mutex(Gate())
    /// The semaphore that serializes the writers of this process.
    ///
    /// `writerLock` serializes the writers of all processes.
    let writersPlace = DispatchSemaphore(value: 1)
    private let writerLock = Mutex<WriterLock?>(nil)
    let handleCheck: FileHandleCheck

    let storeLock: StoreLock?
    private let soundness: SoundnessLock?
    /// The largest size of the file seen so far.
    ///
    /// LMDB never shortens a file. So a smaller size means that another program truncated it.
    private let knownByteCount: Mutex<Int>
    /// Whether the file is read without locks, for example because this user may not lock it.
    let isUnlocked: Bool
    /// The check that LMDB's lock file is still the opened one, or nil without locks.
    private let lockFileCheck: FileHandleCheck?
    private let processID = getpid()

    // MARK: Opening and closing

    /// Opens an existing file or, if `isNew`, an empty new file.
    ///
    /// The path must not be a symbolic link.
    init(path: String, settings: LMDBSettings, isNew: Bool) throws(StoreError) {
        self.path = path
        self.settings = settings
        try StoreFile.refuseNetworkFileSystem(at: path)
        // This check precedes the lock, so that no lock file is created beside a file of another
        // format. The check needs no lock, because a store is published after its first bytes are
        // written.
        if !isNew { try LMDBFileCheck.requireMagic(path) }
        try StoreFile.requireOwnCompanions(ofStoreAt: path, type: LMDBStoreType())
        let storeLock =
            settings.isWritable
            ? try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: settings.timeoutSeconds)
            : try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: settings.timeoutSeconds)
        let isLinked = try StoreFile.requireOneName(
            ofStoreAt: path, forWriting: settings.isWritable, acceptsLinks: settings.acceptsLinks,
            companions: LMDBStoreType.companions)
        // This check is repeated under the lock, because another file may have replaced LMDB's lock
        // file meanwhile.
        try StoreFile.requireOwnCompanions(ofStoreAt: path, type: LMDBStoreType())
        let handleCheck = try FileHandleCheck(at: path)
        // LMDB's locks belong to a path and do not exclude a writer that uses another hard link.
        let soundness = try Self.examine(
            path, settings: settings, isLocked: storeLock != nil && !isLinked, isNew: isNew)
        self.storeLock = storeLock
        self.handleCheck = handleCheck
        self.soundness = soundness
        knownByteCount = Mutex(handleCheck.identity.byteCount)
        var usesLocks = soundness != nil
        var opened: Gate
        do throws(StoreError) {
            opened = try Self.openHandle(path, settings: settings, isNew: isNew, usesLocks: usesLocks)
        } catch
            where !settings.isWritable && usesLocks
            && (error.code == .permissionDenied || error.code == .readOnly || error.code == .noSpace)
        {
            // LMDB's lock file cannot be created. On a full disk, a writer cannot create it either,
            // so the store can be read without locks.
            usesLocks = false
            opened = try Self.openHandle(path, settings: settings, isNew: false, usesLocks: false)
        } catch {
            Self.removeLibraryLockFile(path, storeLock: storeLock, soundness: soundness)
            throw error
        }
        isUnlocked = !usesLocks
        do throws(StoreError) { lockFileCheck = usesLocks ? try FileHandleCheck(at: path + "-lock") : nil } catch {
            // `deinit` does not run if an error is thrown before all properties have a value.
            Self.closeHandle(&opened)
            throw error
        }
        gate.withLock { $0 = opened }
        if settings.isWritable {
            let lock = try WriterLock(forStoreAt: path)
            writerLock.withLock { $0 = lock }
        }
        try handleCheck.verify()
        // If a program crashed right after creating the store, the directory entry may not be
        // durable.
        if settings.isWritable { try StoreFile.syncDirectory(of: path) }
    }

    deinit { close() }

    /// Closes the file and releases its locks.
    ///
    /// No transaction may be open. Calling this method again does nothing.
    func close() {
        gate.withLock { Self.closeHandle(&$0) }
        removeLibraryLockFile()
    }

    /// Checks the file, unless it is new or was checked by a process that still has it open.
    ///
    /// Returns nil if the file must be read without locks.
    private static func examine(
        _ path: String, settings: LMDBSettings, isLocked: Bool, isNew: Bool
    ) throws(StoreError) -> SoundnessLock? {
        if isLocked {
            do throws(StoreError) {
                return try SoundnessLock.enter(forStoreAt: path, timeoutSeconds: settings.timeoutSeconds) {
                    () throws(StoreError) in
                    if !isNew { try LMDBFileCheck.check(path) }
                    // Later openers use the lock file with this size, and throw `busy` if it was removed.
                    try allocateLibraryLockFile(path, settings: settings)
                }
            } catch
                where !settings.isWritable
                && (error.code == .permissionDenied || error.code == .readOnly || error.code == .noSpace)
            {
                // A read-only store is opened without locks if the lock file cannot be created or
                // written.
            }
        }
        // Another process may be writing. An error is damage only if the file did not change during
        // the check.
        var timeout = Timeout(seconds: settings.timeoutSeconds)
        while true {
            let before = try FileIdentity(at: path).modificationNanoseconds
            do throws(StoreError) {
                try LMDBFileCheck.check(path)
                return nil
            } catch {
                guard try FileIdentity(at: path).modificationNanoseconds != before, timeout.wait() else { throw error }
            }
        }
    }

    /// Returns the initial size of the map.
    ///
    /// Address space costs nothing, and growing has to wait for readers. So by default, a writer's
    /// map is as large as the file can become on its disk.
    static func mapByteCount(_ path: String, settings: LMDBSettings) throws(StoreError) -> Int {
        let file = try StoreFile.byteCount(at: path)
        let wanted: Int
        if let initial = settings.initialMapByteCount {
            wanted = initial
        } else if settings.isWritable {
            let room = try StoreFile.freeBytes(inDirectoryOf: path)
            wanted = max(1 << 30, file.addingReportingOverflow(room).overflow ? .max : file + room)
        } else {
            wanted = max(1 << 30, file)
        }
        let bounded = max(min(wanted, settings.maximumMapByteCount), file, 1 << 16)
        return min(bounded, 1 << 46) / mapUnit * mapUnit + mapUnit
    }

    /// The unit of a map's size, which is at least a page on common machines.
    static let mapUnit = 1 << 16

    private static func openHandle(
        _ path: String, settings: LMDBSettings, isNew: Bool, usesLocks: Bool
    ) throws(StoreError) -> Gate {
        let wanted = try mapByteCount(path, settings: settings)
        let smallest = min(wanted, max(try StoreFile.byteCount(at: path), 1 << 24) / mapUnit * mapUnit + mapUnit)
        var mapByteCount = wanted
        while true {
            do throws(StoreError) {
                try AddressSpace.requireRoom(mapByteCount, forMapOf: path)
                return try openHandle(
                    path, settings: settings, mapByteCount: mapByteCount, isNew: isNew, usesLocks: usesLocks)
            } catch  where error.code == .outOfResources && mapByteCount > smallest {
                // The process's address space is limited, but a smaller map may fit.
                mapByteCount = max(mapByteCount / 2 / mapUnit * mapUnit, smallest)
            }
        }
    }

    private static func openHandle(
        _ path: String, settings: LMDBSettings, mapByteCount: Int, isNew: Bool, usesLocks: Bool
    ) throws(StoreError) -> Gate {
        var gate = Gate()
        gate.mapByteCount = mapByteCount
        gate.isWritable = settings.isWritable
        try check(mdb_env_create(&gate.handle), path: path)
        guard let handle = gate.handle else { throw StoreError.lmdb(ENOMEM, what: "cannot be opened", path: path) }
        do throws(StoreError) {
            try check(mdb_env_set_mapsize(handle, mapByteCount), path: path)
            try check(mdb_env_set_maxreaders(handle, settings.readerCount), path: path)
            try check(mdb_env_set_maxdbs(handle, MDB_dbi(KeySpace.allCases.count)), path: path)
            var flags = MDB_NOSUBDIR | MDB_NOTLS
            if !settings.isWritable { flags |= MDB_RDONLY }
            if !usesLocks { flags |= MDB_NOLOCK }
            if settings.isUnpublished, settings.isWritable { flags |= MDB_NOSYNC }
            if usesLocks { try requireLibraryLockFile(path) }
            try check(mdb_env_open(handle, path, UInt32(flags), 0o600), path: path)
            if usesLocks {
                var deadReaders: Int32 = 0
                try check(mdb_reader_check(handle, &deadReaders), path: path)
            }
            // The first process that opened the file has set the number of slots.
            var readerCount: UInt32 = 0
            try check(mdb_env_get_maxreaders(handle, &readerCount), path: path)
            gate.readerCount = Int(readerCount)
            gate.databases = try openDatabases(
                handle, path: path, isNew: isNew, timeoutSeconds: settings.timeoutSeconds)
            return gate
        } catch {
            mdb_env_close(handle)
            throw error
        }
    }

    /// Allocates LMDB's lock file for the number of readers in the settings.
    ///
    /// The file has two cache lines and one more for each reader. LMDB itself maps the file without
    /// allocating its blocks, so a full disk would crash the process.
    ///
    /// Only the first opener may enlarge the file. LMDB derives the number of slots from the size
    /// and maps the file once, but reads as many slots as any process has used. So a process that
    /// mapped a smaller file would read past the end of its map.
    private static func allocateLibraryLockFile(_ path: String, settings: LMDBSettings) throws(StoreError) {
        let lockPath = path + "-lock"
        let wanted = 64 * (Int(settings.readerCount) + 2)
        guard StoreFile.hasEntry(at: lockPath) else { return try StoreFile.allocate(wanted, at: lockPath) }
        // LMDB locks the first byte while a program, such as `mdb_stat`, has the file mapped. The file must then
        // keep its size.
        let lock = try FileRangeLock.acquire(oneOf: CollectionOfOne(0..<1), mode: .exclusive, at: lockPath)
        defer { withExtendedLifetime(lock) {} }
        try StoreFile.allocate(lock == nil ? StoreFile.byteCount(at: lockPath) : wanted, at: lockPath)
    }

    /// Throws `busy` if LMDB's lock file was removed while other processes have the store open.
    ///
    /// With a new lock file, these processes and this one would not see each other.
    private static func requireLibraryLockFile(_ path: String) throws(StoreError) {
        guard StoreFile.hasEntry(at: path + "-lock") else {
            throw StoreError(
                .busy,
                "LMDB's lock file '\(path)-lock' was removed while others have the store open; close the store in the other processes and try again"
            )
        }
    }

    /// Opens the databases, or creates them if `isNew`.
    ///
    /// For an existing file, waits up to `timeoutSeconds` for a reader slot.
    private static func openDatabases(
        _ handle: OpaquePointer, path: String, isNew: Bool, timeoutSeconds: Double
    ) throws(StoreError) -> [MDB_dbi] {
        var transaction: OpaquePointer?
        var timeout = Timeout(seconds: timeoutSeconds)
        while true {
            let code =
                isNew
                ? mdb_txn_begin(handle, nil, 0, &transaction) : beginRead(handle, transaction: &transaction)
            if code == MDB_READERS_FULL, timeout.wait() { continue }
            try check(code, path: path)
            break
        }
        var databases: [MDB_dbi] = []
        for space in KeySpace.allCases {
            var database = MDB_dbi()
            let code = mdb_dbi_open(transaction, space.rawValue, UInt32(isNew ? MDB_CREATE : 0), &database)
            guard code == MDB_SUCCESS else {
                mdb_txn_abort(transaction)
                throw StoreError.lmdb(code, what: "cannot be opened", path: path)
            }
            databases.append(database)
        }
        // Database handles stay valid only if the transaction that opened them commits.
        try check(mdb_txn_commit(transaction), path: path)
        return databases
    }

    static func check(_ code: Int32, path: String) throws(StoreError) {
        guard code == MDB_SUCCESS else { throw StoreError.lmdb(code, what: "cannot be opened", path: path) }
    }

    /// Closes the handle, which must have no open transactions except those in the pool.
    private static func closeHandle(_ gate: inout Gate) {
        for transaction in gate.pool { mdb_txn_abort(transaction) }
        gate.pool = []
        if let handle = gate.handle { mdb_env_close(handle) }
        gate.handle = nil
        gate.databases = []
    }

    /// Releases the store's locks, and removes LMDB's lock file if the store is not open elsewhere.
    private func removeLibraryLockFile() {
        soundness?.release()
        writerLock.withLock { $0?.close() }
        guard let storeLock else { return }
        // LMDB's lock file may remain without harm. After `chdir`, a relative path may refer to
        // another file, which must not be removed. The store's lock cannot be changed after its
        // release, so a second call does nothing.
        if (try? storeLock.change(to: .exclusive, timeoutSeconds: 0)) != nil,
            (try? lockFileCheck?.verify()) != nil
        {
            try? StoreFile.remove(path + "-lock")
        }
        storeLock.release()
    }

    /// Removes LMDB's lock file after a failed opening, unless the store is open elsewhere.
    private static func removeLibraryLockFile(_ path: String, storeLock: StoreLock?, soundness: SoundnessLock?) {
        soundness?.release()
        guard let storeLock else { return }
        if (try? storeLock.change(to: .exclusive, timeoutSeconds: 0)) != nil { try? StoreFile.remove(path + "-lock") }
        storeLock.release()
    }

    // MARK: The gate

    /// Checks at the beginning of a transaction that the file and LMDB's lock file are still at
    /// their paths.
    ///
    /// Before a write, also checks that the file has no other hard link.
    func verifyFile(forWriting: Bool = false) throws(StoreError) {
        guard getpid() == processID else {
            throw StoreError(
                .invalidRequest, "'\(path)' was opened before this process was forked; open it again in the new process"
            )
        }
        let known = knownByteCount.withLock { $0 }
        let now =
            forWriting
            ? try handleCheck.verifyForWriting(minimumByteCount: known)
            : try handleCheck.verify(minimumByteCount: known)
        if now.byteCount > known { knownByteCount.withLock { $0 = max($0, now.byteCount) } }
        if isUnlocked { try handleCheck.verifyUnchanged(now) }
        do throws(StoreError) {
            try lockFileCheck?.verify()
        } catch  where error.code == .storeReplaced {
            // Later processes use a new lock file, which does not show the readers and writers of
            // this process.
            throw StoreError(
                .storeReplaced,
                "LMDB's lock file '\(path)-lock' was removed or exchanged while the store was open; close the store everywhere and open it again"
            )
        }
    }

    /// Checks that a file that is read without locks has not changed.
    func verifyUnchanged() throws(StoreError) { if isUnlocked { try handleCheck.verifyUnchanged() } }

    /// Subtracts an ended transaction or flush from the count of the gate.
    func leave() { gate.withLock { $0.activeCount -= 1 } }

    /// Waits until no transaction of this process is open, and runs `body`.
    ///
    /// If `body` finds no free reader slot, `body` runs again. After the timeout, the method throws
    /// `busy`.
    func exclusively(
        timeoutSeconds: Double, purpose: String, _ body: (inout Gate) throws(StoreError) -> Void
    ) throws(StoreError) {
        var timeout = Timeout(seconds: timeoutSeconds)
        var openCount = 0
        var lackOfSlots: StoreError?
        repeat {
            lackOfSlots = nil
            do throws(StoreError) {
                let isDone = try gate.withLock { (gate) throws(StoreError) in
                    openCount = gate.activeCount
                    guard openCount == 0 else { return false }
                    try body(&gate)
                    return true
                }
                if isDone { return }
            } catch  where error.isLackOfReaderSlots {
                lackOfSlots = error
            }
        } while timeout.wait()
        if let lackOfSlots { throw lackOfSlots }
        throw StoreError(
            .busy,
            "'\(path)' must be \(purpose), but this process has \(openCount) open snapshots; close them and try again"
        )
    }

    /// Reopens the handle if it is missing or must be replaced.
    func reopenIfNeeded(timeoutSeconds: Double) throws(StoreError) {
        guard gate.withLock({ $0.needsReopening || $0.handle == nil }) else { return }
        try exclusively(timeoutSeconds: timeoutSeconds, purpose: "opened again") { (gate) throws(StoreError) in
            guard gate.needsReopening || gate.handle == nil else { return }
            try reopen(&gate, isWritable: gate.isWritable)
        }
    }

    /// Reopens the environment for writing if it is read-only.
    func makeWritable(timeoutSeconds: Double) throws(StoreError) {
        guard !gate.withLock({ $0.isWritable }) else { return }
        guard !isUnlocked else {
            throw StoreError(.busy, "'\(path)' is open in this process for reading without locks; close it there first")
        }
        try StoreFile.requireRegularFile(at: path, forWriting: true)
        try StoreFile.requireOneName(ofStoreAt: path, forWriting: true, companions: LMDBStoreType.companions)
        let lock = try WriterLock(forStoreAt: path)
        try exclusively(timeoutSeconds: timeoutSeconds, purpose: "opened for writing") { (gate) throws(StoreError) in
            if !gate.isWritable { try reopen(&gate, isWritable: true) }
            // Another thread that sees a writable environment must find the writer lock.
            writerLock.withLock { if $0 == nil { $0 = lock } }
        }
    }

    /// Closes the handle and opens a new one, with a map of the initial size if that fits.
    func reopen(_ gate: inout Gate, isWritable: Bool) throws(StoreError) {
        var settings = settings
        settings.isWritable = isWritable
        // This method must not wait for a reader slot while the gate's lock is held. The caller can try again.
        settings.timeoutSeconds = 0
        let mapByteCount = gate.mapByteCount
        Self.closeHandle(&gate)
        gate.mapByteCount = mapByteCount
        gate.needsReopening = true
        gate = try Self.openHandle(path, settings: settings, isNew: false, usesLocks: !isUnlocked)
    }

    /// Acquires the lock that serializes the writers of all processes.
    func lockForWriting(timeoutSeconds: Double) throws(StoreError) {
        guard let lock = writerLock.withLock({ $0 }) else {
            throw StoreError(.readOnly, "'\(path)' was opened read-only; open it for writing")
        }
        try lock.lock(timeoutSeconds: timeoutSeconds)
    }

    func unlockAfterWriting() {
        // If unlocking fails, closing the store releases the lock.
        writerLock.withLock { try? $0?.unlock() }
    }
}
