internal import CSQLite
internal import RoostCore
internal import RoostFiles
internal import RoostSQL

extension SQLiteDatabase {
    /// Prepares an unpublished store for a load without a journal.
    ///
    /// Returns nil if the database is not empty, if it has another user, or if SQLite does not turn
    /// off the journal.
    func beginLoading(
        ifEmpty isEmpty: (any SQLConnection) throws(StoreError) -> Bool
    ) throws(StoreError) -> (any SQLConnection)? {
        let writer = try takeWriter()
        do throws(StoreError) {
            let idle = state.withLock { state -> [SQLiteConnection]? in
                // The writer itself is one user.
                guard state.userCount == 1 else { return nil }
                state.isLoading = true
                defer { state.idleReaders = [] }
                return state.idleReaders
            }
            guard let idle else {
                giveBack(writer, isSound: true)
                return nil
            }
            for connection in idle { discard(connection) }
            // A defensive connection refuses to turn off the journal.
            try writer.set(SQLITE_DBCONFIG_DEFENSIVE, isOn: false)
            guard try isEmpty(writer), try writer.text("PRAGMA journal_mode = OFF") == "off" else {
                try writer.set(SQLITE_DBCONFIG_DEFENSIVE, isOn: true)
                try writer.execute("PRAGMA journal_mode = WAL")
                state.withLock { $0.isLoading = false }
                giveBack(writer, isSound: true)
                return nil
            }
            // Building an index takes long without producing a row, so the time limit is removed.
            writer.clock.pointee.limit = nil
            try writer.execute("PRAGMA locking_mode = EXCLUSIVE")
            try writer.execute("PRAGMA cache_size = -16384")
            try writer.run("BEGIN IMMEDIATE")
            return writer
        } catch {
            state.withLock { $0.isLoading = false }
            giveBack(writer, isSound: false)
            throw error
        }
    }

    /// Removes the time limit, and the large page cache, which index building does not use.
    func beginIndexing(_ connection: any SQLConnection) throws(StoreError) {
        (connection as? SQLiteConnection)?.clock.pointee.limit = nil
        // Only `beginLoading` sets a large cache.
        guard state.withLock({ $0.isLoading }) else { return }
        try connection.execute("PRAGMA cache_size = -2048")
    }

    /// Commits, returns to the write-ahead log, closes the connection and flushes the file.
    func commitLoading(_ connection: any SQLConnection) throws(StoreError) {
        guard let writer = connection as? SQLiteConnection else { return }
        try writer.run("COMMIT")
        try writer.execute("PRAGMA locking_mode = NORMAL")
        guard try writer.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(
                .busy, "'\(path)' cannot return to its write-ahead log while another process reads it; try again later."
            )
        }
        state.withLock { $0.writer = nil }
        try writer.set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn: false)
        try writer.close()
        try StoreFile.syncFile(at: path)
        state.withLock { $0.isLoading = false }
        endLoading()
    }

    /// Empties the database, and creates the tables again.
    func abandonLoading(
        _ connection: any SQLConnection, recreate: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError) {
        defer {
            state.withLock { $0.isLoading = false }
            endLoading()
        }
        let known = state.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }
        let writer: SQLiteConnection
        if let known { writer = known } else { writer = try Self.connect(path, settings: settings, access: .readWrite) }
        defer { discard(writer) }
        // The emptied store keeps its format version.
        let version = SQLiteHeader.version(ofFileAt: path) ?? SQLSchema.formatVersion
        // Without a journal nothing can be rolled back, so this only ends the transaction.
        try? writer.rollBack()
        try writer.allow(.everything)
        try writer.set(SQLITE_DBCONFIG_RESET_DATABASE, isOn: true)
        try writer.vacuum()
        try writer.set(SQLITE_DBCONFIG_RESET_DATABASE, isOn: false)
        try writer.allow(.writing)
        // The application ID is written in place, so this succeeds on a full disk too. If a later
        // step fails, the file is still recognized and can be destroyed.
        try writer.execute("PRAGMA application_id = \(SQLiteHeader.applicationID)")
        try writer.execute("PRAGMA locking_mode = NORMAL")
        try SQLiteCreation.fill(writer, pageSizeBytes: pageSizeBytes, formatVersion: version, recreate)
    }

    private func endLoading() {
        leaveWriterPlace()
        leave()
    }

    func requireSoundStructure(_ connection: any SQLConnection) throws(StoreError) {
        try SQLiteSettling.requireSound(try own(connection))
    }

    func integrityFindings() throws(StoreError) -> [StoreFinding] {
        let reader = try beginReading()
        defer { endReading(reader) }
        let connection = try own(reader)
        do throws(StoreError) {
            return try connection.withoutTimeLimit { () throws(StoreError) in try Self.integrityFindings(connection) }
        } catch  where error.code == .corrupted {
            return [StoreFinding(.damage, message: error.message)]
        }
    }

    func own(_ connection: any SQLConnection) throws(StoreError) -> SQLiteConnection {
        guard let connection = connection as? SQLiteConnection else {
            throw StoreError(.internalInconsistency, "'\(path)' has a connection of another kind; please report this.")
        }
        return connection
    }

    private static func integrityFindings(_ connection: SQLiteConnection) throws(StoreError) -> [StoreFinding] {
        try connection.withStatement("PRAGMA integrity_check(100)") { (statement) throws(StoreError) in
            var findings: [StoreFinding] = []
            while try statement.step() {
                guard case .text(let text) = try statement.value(at: 0), text != "ok" else { continue }
                for line in text.split(whereSeparator: \.isNewline) {
                    findings.append(StoreFinding(.damage, message: String(line)))
                }
            }
            return findings
        }
    }
}

extension SQLConnection {
    /// Returns the text in the first column of the first row, or an empty text.
    func text(_ sql: String) throws(StoreError) -> String {
        try withStatement(sql) { (statement) throws(StoreError) -> String in
            guard try statement.step(), case .text(let text) = try statement.value(at: 0) else { return "" }
            return text
        }
    }
}
