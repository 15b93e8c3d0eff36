internal import CLMDB
internal import RoostCore
internal import RoostFiles

extension LMDBEnvironment {
    /// Begins a read transaction.
    ///
    /// The caller ends it with ``endRead(_:)``.
    func beginRead() throws(StoreError) -> (transaction: OpaquePointer, databases: [MDB_dbi]) {
        try verifyFile()
        var timeout = Timeout(seconds: settings.timeoutSeconds)
        while true {
            try reopenIfNeeded(timeoutSeconds: timeout.secondsLeft)
            var result = MDB_PANIC
            let begun = gate.withLock { gate in
                var transaction: OpaquePointer?
                (result, transaction) = Self.begin(&gate)
                guard result == MDB_SUCCESS, let transaction else { return nil as (OpaquePointer, [MDB_dbi])? }
                gate.activeCount += 1
                return (transaction, gate.databases)
            }
            if let begun { return begun }
            switch result {
            case MDB_MAP_RESIZED: try adoptMapSize(timeoutSeconds: timeout.secondsLeft)
            case MDB_PANIC: gate.withLock { $0.needsReopening = true }
            case MDB_READERS_FULL: break
            default: throw StoreError.lmdb(result, what: "cannot be read", path: path)
            }
            guard timeout.wait() else { throw StoreError.lmdb(result, what: "cannot be read", path: path) }
        }
    }

    private static func begin(_ gate: inout Gate) -> (code: Int32, transaction: OpaquePointer?) {
        guard let handle = gate.handle, !gate.needsReopening else { return (MDB_PANIC, nil) }
        if let pooled = gate.pool.popLast() {
            let code = mdb_txn_renew(pooled)
            if code == MDB_SUCCESS { return (code, pooled) }
            mdb_txn_abort(pooled)
            if code == MDB_MAP_RESIZED { return (code, nil) }
        }
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Crashed processes may still occupy reader slots.
            var deadReaders: Int32 = 0
            let checked = mdb_reader_check(handle, &deadReaders)
            guard checked == MDB_SUCCESS else { return (checked, nil) }
            code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        return (code, transaction)
    }

    /// Ends a read transaction whose cursors are closed.
    func endRead(_ transaction: OpaquePointer) {
        gate.withLock { gate in
            gate.activeCount -= 1
            if gate.pool.count < 32, !gate.needsReopening {
                mdb_txn_reset(transaction)
                gate.pool.append(transaction)
            } else {
                mdb_txn_abort(transaction)
            }
        }
    }
}
