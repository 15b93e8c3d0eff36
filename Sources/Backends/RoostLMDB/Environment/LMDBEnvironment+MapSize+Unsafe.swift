internal import CLMDB
internal import RoostCore
internal import RoostFiles
internal import RoostSystem

extension LMDBEnvironment {
    /// Enlarges the map to the size that another process has set.
    func adoptMapSize(timeoutSeconds: Double) throws(StoreError) {
        try exclusively(timeoutSeconds: timeoutSeconds, purpose: "mapped anew because another process made it larger") {
            (gate) throws(StoreError) in try resize(&gate, to: 0)
        }
    }

    /// Enlarges the map for the current writer, which must have no open transaction.
    func growMap(timeoutSeconds: Double) throws(StoreError) {
        try exclusively(timeoutSeconds: timeoutSeconds, purpose: "mapped anew because it grew") {
            (gate) throws(StoreError) in
            let file = try StoreFile.byteCount(at: path)
            let room = try StoreFile.freeBytes(inDirectoryOf: path)
            guard gate.mapByteCount < settings.maximumMapByteCount else {
                throw StoreError.lmdb(MDB_MAP_FULL, what: "cannot grow", path: path)
            }
            guard room > Self.mapUnit else { throw StoreFile.error(errno: ENOSPC, what: "cannot grow", path: path) }
            let doubled = min(
                gate.mapByteCount.multipliedReportingOverflow(by: 2).partialValue, settings.maximumMapByteCount)
            let useful = file.addingReportingOverflow(room).overflow ? doubled : file + room
            let least = gate.mapByteCount + 16 * Self.mapUnit
            let most = settings.maximumMapByteCount + Self.mapUnit
            var size = max(min(doubled, useful), least)
            while true {
                do throws(StoreError) {
                    try AddressSpace.requireRoom(min(size, most) - gate.mapByteCount, forMapOf: path)
                    break
                } catch  where error.code == .outOfResources && size > least {
                    // The address space of the process is limited, so the map grows by less.
                    size = max(least, gate.mapByteCount + (size - gate.mapByteCount) / 2)
                }
            }
            try resize(&gate, to: min(size, most) / Self.mapUnit * Self.mapUnit)
        }
    }

    /// Enlarges the map to the size that the file can reach on its disk, unless a transaction is
    /// open.
    ///
    /// A long transaction first calls this method, because it cannot run again when the map is
    /// full. If the process's address space is limited, the map becomes as large as fits.
    func growMapForLongWrite(timeoutSeconds: Double) throws(StoreError) {
        var wishes = settings
        wishes.initialMapByteCount = nil
        let wanted = try Self.mapByteCount(path, settings: wishes)
        try gate.withLock { (gate) throws(StoreError) in
            guard gate.activeCount == 0, gate.handle != nil, gate.mapByteCount < wanted else { return }
            do throws(StoreError) {
                try AddressSpace.requireRoom(wanted - gate.mapByteCount, forMapOf: path)
                try resize(&gate, to: wanted)
            } catch  where error.code == .outOfResources {
                gate.needsReopening = true
            }
        }
        try reopenIfNeeded(timeoutSeconds: timeoutSeconds)
    }

    /// Maps the file again with the given size or, if `byteCount` is 0, with the size that another
    /// process has set.
    private func resize(_ gate: inout Gate, to byteCount: Int) throws(StoreError) {
        guard let handle = gate.handle else { throw StoreError.lmdb(MDB_PANIC, what: "cannot be mapped", path: path) }
        var deadReaders: Int32 = 0
        if !isUnlocked {
            let code = mdb_reader_check(handle, &deadReaders)
            guard code == MDB_SUCCESS else { throw StoreError.lmdb(code, what: "cannot be mapped", path: path) }
        }
        let code = mdb_env_set_mapsize(handle, byteCount)
        guard code == MDB_SUCCESS else {
            // The old map may already be unmapped, so the handle must not be used again.
            gate.needsReopening = true
            throw StoreError.lmdb(code, what: "cannot be mapped", path: path)
        }
        var information = MDB_envinfo()
        let informed = mdb_env_info(handle, &information)
        guard informed == MDB_SUCCESS else { throw StoreError.lmdb(informed, what: "cannot be examined", path: path) }
        gate.mapByteCount = information.me_mapsize
    }
}
