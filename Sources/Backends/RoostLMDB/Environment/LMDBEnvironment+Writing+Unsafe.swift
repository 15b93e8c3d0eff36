internal import CLMDB
internal import Dispatch
internal import RoostCore
internal import RoostFiles
internal import RoostKeyValue

extension LMDBEnvironment {
    private enum Attempt<Value> {
        case committed(Value)
        /// The map was full, and nothing was written.
        case needsRoom
        /// Another process has enlarged the map.
        case needsMap
    }

    /// Runs `body` in a transaction, and again in a new one if the map had to grow.
    ///
    /// All steps run on the caller's thread, because LMDB's writer lock must be released by the
    /// thread that acquired it.
    func write<Value: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try enterWriting(timeoutSeconds: timeoutSeconds)
        defer { leaveWriting() }
        while true {
            switch try attempt(body) {
            case .committed(let value): return value
            case .needsRoom: try growMap(timeoutSeconds: timeoutSeconds)
            case .needsMap: try adoptMapSize(timeoutSeconds: timeoutSeconds)
            }
        }
    }

    private func attempt<Value: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Value
    ) throws(StoreError) -> Attempt<Value> {
        guard let transaction = try beginWrite() else { return .needsMap }
        defer { leave() }
        let writer = LMDBWriter(transaction)
        do throws(StoreError) {
            let value = try body(writer)
            return try commit(writer) ? .committed(value) : .needsRoom
        } catch {
            let isMapFull = writer.isMapFull
            writer.abort()
            if isMapFull { return .needsRoom }
            throw error
        }
    }

    /// Waits to become the only writer of all processes, and checks that the file can be written.
    func enterWriting(timeoutSeconds: Double) throws(StoreError) {
        let timeout = Timeout(seconds: timeoutSeconds)
        // `Timeout` limits the wait to a year, so the sum cannot overflow.
        guard writersPlace.wait(timeout: .now() + timeout.secondsLeft) == .success else {
            throw StoreError(.busy, "Another thread of this process is writing to '\(path)'; try again later")
        }
        do throws(StoreError) {
            try lockForWriting(timeoutSeconds: timeout.secondsLeft)
        } catch {
            writersPlace.signal()
            throw error
        }
        do throws(StoreError) {
            try verifyFile(forWriting: true)
            try reopenIfNeeded(timeoutSeconds: timeout.secondsLeft)
        } catch {
            leaveWriting()
            throw error
        }
    }

    /// Releases the locks of ``enterWriting(timeoutSeconds:)``.
    func leaveWriting() {
        unlockAfterWriting()
        writersPlace.signal()
    }

    /// Begins a write transaction, which belongs to the calling thread.
    ///
    /// Returns nil if another process has enlarged the map. The caller must then adopt the new size
    /// and try again.
    ///
    /// The caller calls ``leave()`` after the transaction has ended.
    func beginWrite() throws(StoreError) -> LMDBTransaction? {
        let entered = gate.withLock { gate -> (OpaquePointer, [MDB_dbi])? in
            guard let handle = gate.handle, !gate.needsReopening else { return nil }
            gate.activeCount += 1
            gate.writeCount &+= 1
            return (handle, gate.databases)
        }
        guard let (handle, databases) = entered else {
            throw StoreError.lmdb(MDB_PANIC, what: "cannot be written", path: path)
        }
        do throws(StoreError) {
            try forgetDeadReaders(handle)
        } catch {
            leave()
            throw error
        }
        // `mdb_txn_begin` waits for writers of other programs, so the gate's lock must not be held here.
        // Roost's writer lock already excludes other Roost processes.
        var pointer: OpaquePointer?
        let code = mdb_txn_begin(handle, nil, 0, &pointer)
        guard code == MDB_SUCCESS, let pointer else {
            leave()
            if code == MDB_MAP_RESIZED { return nil }
            if code == MDB_PANIC { gate.withLock { $0.needsReopening = true } }
            throw StoreError.lmdb(code, what: "cannot be written", path: path)
        }
        return LMDBTransaction(pointer, databases: databases, path: path)
    }

    /// Clears the reader slots of crashed processes at every 32nd write.
    ///
    /// Until then, pages that the crashed processes read are not reused, and the file grows with
    /// every commit.
    private func forgetDeadReaders(_ handle: OpaquePointer) throws(StoreError) {
        guard gate.withLock({ $0.writeCount % 32 == 1 }) else { return }
        var deadReaders: Int32 = 0
        let code = mdb_reader_check(handle, &deadReaders)
        guard code == MDB_SUCCESS else { throw StoreError.lmdb(code, what: "cannot be written", path: path) }
    }

    /// Commits a transaction on the thread that began it.
    ///
    /// Returns false, with nothing written, if the map is full.
    func commit(_ writer: LMDBWriter) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try writer.finish()
        } catch {
            writer.abort()
            guard writer.isMapFull else { throw error }
        }
        do throws(StoreError) { try handleCheck.verifyForWriting() } catch {
            writer.abort()
            throw error
        }
        guard !writer.isMapFull, let pointer = writer.transaction.end() else {
            writer.abort()
            return false
        }
        // This call ends the transaction, whatever its result.
        let code = mdb_txn_commit(pointer)
        switch code {
        case MDB_SUCCESS: return true
        case MDB_MAP_FULL: return false
        case MDB_BAD_TXN, MDB_TXN_FULL, MDB_KEYEXIST:
            // LMDB returns these codes before it writes to the file.
            throw StoreError.lmdb(code, what: "cannot be committed", path: path)
        default: throw failedCommit(code)
        }
    }

    /// Returns the error of a commit that failed while writing.
    ///
    /// The handle is replaced before the next transaction, unless the only cause was a full disk.
    private func failedCommit(_ code: Int32) -> StoreError {
        let error = StoreError.lmdb(code, what: "cannot be committed", path: path)
        let isUnknown = gate.withLock { gate in
            guard let handle = gate.handle else { return true }
            // The outcome is unknown only if writing the meta page failed, because other pages are not
            // yet part of the store. LMDB then refuses every transaction.
            var probe: OpaquePointer?
            let result = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
            if result == MDB_SUCCESS { mdb_txn_abort(probe) }
            // If the disk was full, the unwritten pages belong to no tree, so LMDB can continue.
            if result == MDB_PANIC || error.code != .noSpace { gate.needsReopening = true }
            return result == MDB_PANIC
        }
        guard isUnknown else { return error }
        return StoreError(
            .outcomeUnknown,
            "'\(path)' could not be committed, and it is unknown whether the change was written; read the store again to find out",
            underlying: error)
    }

    /// Checks the file and returns the findings.
    ///
    /// For a writable store, this method first waits for other writers, because the file must not
    /// change during the check.
    func integrityFindings(timeoutSeconds: Double) throws(StoreError) -> [StoreFinding] {
        let isWritable = gate.withLock { $0.isWritable }
        if isWritable { try enterWriting(timeoutSeconds: timeoutSeconds) }
        defer { if isWritable { leaveWriting() } }
        let before = try FileIdentity(at: path).modificationNanoseconds
        do throws(StoreError) {
            try LMDBFileCheck.check(path)
            return []
        } catch  where error.code == .corrupted || error.code == .notAStore || error.code == .unsupportedVersion {
            // A read-only store does not hold the writer lock. If another process has written, the
            // file must be checked again.
            if !isWritable, try FileIdentity(at: path).modificationNanoseconds != before {
                throw StoreError(
                    .busy, "'\(path)' is being written by another process; check it again when that is done")
            }
            return [StoreFinding(.damage, message: error.message)]
        }
    }

    func sync() throws(StoreError) {
        try verifyFile()
        let entered = gate.withLock { gate -> OpaquePointer? in
            guard let handle = gate.handle, !gate.needsReopening else { return nil }
            gate.activeCount += 1
            return handle
        }
        guard let handle = entered else { throw StoreError.lmdb(MDB_PANIC, what: "cannot be flushed", path: path) }
        defer { leave() }
        let code = mdb_env_sync(handle, 1)
        guard code == MDB_SUCCESS else {
            gate.withLock { $0.needsReopening = true }
            throw StoreError.lmdb(code, what: "cannot be flushed to the disk", path: path)
        }
    }
}

/// A write transaction that spans several calls.
final class LMDBLongWrite: KeyValueLongWrite {
    private final class Handle: @unchecked Sendable {
        // Proof of Sendable: `writer` is used only by jobs of the transaction's thread, one after
        // the other.
        let writer: LMDBWriter
        init(_ writer: LMDBWriter) { self.writer = writer }
    }

    private let lease: EnvironmentLease
    private let thread: WriterThread
    private var handle: Handle?
    private var hasFailed = false

    init(_ lease: EnvironmentLease, timeoutSeconds: Double) throws(StoreError) {
        let environment = lease.environment
        self.lease = lease
        thread = try WriterThread()
        try environment.enterWriting(timeoutSeconds: timeoutSeconds)
        do throws(StoreError) {
            try environment.growMapForLongWrite(timeoutSeconds: timeoutSeconds)
            var begun: Handle?
            while begun == nil {
                begun = try thread.run { () throws(StoreError) in
                    try environment.beginWrite().map { Handle(LMDBWriter($0)) }
                }
                if begun == nil { try environment.adoptMapSize(timeoutSeconds: timeoutSeconds) }
            }
            handle = begun
        } catch {
            environment.leaveWriting()
            throw error
        }
    }

    deinit { abort() }

    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let handle = try requireUsable()
        do throws(StoreError) {
            let result = try thread.run { () throws(StoreError) in try body(handle.writer) }
            return result
        } catch {
            hasFailed = true
            throw error
        }
    }

    func commit() throws(StoreError) {
        let handle = try requireUsable()
        let environment = lease.environment
        self.handle = nil
        defer {
            environment.leave()
            environment.leaveWriting()
        }
        let isCommitted = try thread.run { () throws(StoreError) in try environment.commit(handle.writer) }
        guard isCommitted else {
            throw StoreError.lmdb(MDB_MAP_FULL, what: "cannot be committed", path: environment.path)
        }
    }

    func abort() {
        guard let handle else { return }
        self.handle = nil
        let environment = lease.environment
        // The job throws no errors, so none are lost.
        try? thread.run { handle.writer.abort() }
        environment.leave()
        environment.leaveWriting()
    }

    private func requireUsable() throws(StoreError) -> Handle {
        guard let handle else { throw StoreError(.closed, "The transaction was ended before") }
        guard !hasFailed else {
            throw StoreError(.closed, "A part of the transaction failed; it can only be aborted")
        }
        return handle
    }
}
