internal import CLMDB
internal import RoostCore
internal import RoostFiles

extension LMDBEnvironment {
    /// Begins a read transaction, which the caller ends with ``endRead(_:)``.
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
        let code = beginRead(handle, transaction: &transaction)
        return (code, transaction)
    }

    /// Begins a read transaction in a free reader slot, and returns LMDB's code.
    static func beginRead(_ handle: OpaquePointer, transaction: inout OpaquePointer?) -> Int32 {
        var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        if code == MDB_READERS_FULL {
            // Crashed processes may still occupy reader slots.
            var deadReaders: Int32 = 0
            let checked = mdb_reader_check(handle, &deadReaders)
            guard checked == MDB_SUCCESS else { return checked }
            code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
        }
        return code
    }

    /// Ends a read transaction whose cursors are closed.
    func endRead(_ transaction: OpaquePointer) {
        gate.withLock { gate in
            gate.activeCount -= 1
            if Self.hasRoomInPool(gate) {
                mdb_txn_reset(transaction)
                gate.pool.append(transaction)
            } else {
                mdb_txn_abort(transaction)
            }
        }
    }

    /// Returns whether another read transaction may be kept for later snapshots.
    ///
    /// A kept transaction occupies a reader slot, which other processes then lack. If more than an
    /// eighth of the slots was ever in use, the kept transactions occupy at most a 256th of the
    /// slots.
    private static func hasRoomInPool(_ gate: Gate) -> Bool {
        guard let handle = gate.handle, !gate.needsReopening, gate.pool.count < 32 else { return false }
        if gate.pool.count < gate.readerCount / 256 { return true }
        var information = MDB_envinfo()
        guard mdb_env_info(handle, &information) == MDB_SUCCESS else { return false }
        return information.me_numreaders <= information.me_maxreaders / 8
    }
}
