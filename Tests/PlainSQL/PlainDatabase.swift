#if SQLite
    import RoostCore
    import RoostFiles
    import RoostSQL
    import RoostSQLite

    /// A database with only the required members, over an SQLite file with a write-ahead log.
    ///
    /// SQLite's locks serialize writers, in one process and between processes.
    final class PlainDatabase: SQLDatabase {
        private struct State {
            var idle: [SQLiteConnection] = []
            /// The number of running transactions.
            var userCount = 0
            var isClosed = false
            /// Whether the lock was released.
            var isFinished = false
        }

        let dialect: any SQLDialect = PlainDialect()
        private let path: String
        private let options: StoreOptions
        private let endsWithErrors: Bool
        private let lock: StoreLock?
        private let check: FileHandleCheck
        private let state = Mutex(State())

        init(at path: String, options: StoreOptions, endsWithErrors: Bool, lock: StoreLock?) throws(StoreError) {
            self.path = path
            self.options = options
            self.endsWithErrors = endsWithErrors
            self.lock = lock
            check = try FileHandleCheck(at: path)
        }

        deinit { try? close() }

        var name: String { path }

        func beginReading() throws(StoreError) -> any SQLConnection {
            try begin { (connection) throws(StoreError) in
                _ = try check.verify()
                try connection.run("BEGIN")
                // The transaction sees the state of the file at its first read.
                _ = try connection.integer("SELECT count FROM _roost_tallies LIMIT 1")
            }
        }

        func endReading(_ connection: any SQLConnection) { end(connection) }

        func beginWriting() throws(StoreError) -> any SQLConnection {
            try begin { (connection) throws(StoreError) in
                _ = try check.verifyForWriting()
                try connection.run("BEGIN IMMEDIATE")
            }
        }

        func commitWriting(_ connection: any SQLConnection) throws(StoreError) {
            defer { end(connection) }
            guard let plain = connection as? PlainConnection else { return }
            _ = try check.verifyForWriting()
            try plain.base.run("COMMIT")
        }

        func rollBackWriting(_ connection: any SQLConnection) { end(connection) }

        func byteCount() throws(StoreError) -> Int {
            try StoreFile.byteCount(at: path) + ((try? StoreFile.byteCount(at: path + "-wal")) ?? 0)
        }

        func close() throws(StoreError) {
            let idle = state.withLock { state in
                state.isClosed = true
                defer { state.idle = [] }
                return state.idle
            }
            for connection in idle { try connection.close() }
            finishUnlessUsed()
        }

        private func begin(
            _ body: (SQLiteConnection) throws(StoreError) -> Void
        ) throws(StoreError) -> any SQLConnection {
            let known = try state.withLock { (state) throws(StoreError) in
                guard !state.isClosed else { throw StoreError(.closed, "'\(path)' was closed before.") }
                state.userCount += 1
                return state.idle.popLast()
            }
            var opened: SQLiteConnection?
            do throws(StoreError) {
                let connection: SQLiteConnection
                if let known { connection = known } else { connection = try Self.connect(to: path, options: options) }
                opened = connection
                try body(connection)
                return PlainConnection(connection, endsWithErrors: endsWithErrors)
            } catch {
                if let opened { try? opened.close() }
                leave()
                throw error
            }
        }

        /// Ends a transaction, and rolls back uncommitted changes.
        private func end(_ connection: any SQLConnection) {
            guard let plain = connection as? PlainConnection else { return }
            plain.isOver = true
            let base = plain.base
            let isSound = !base.isInTransaction || (try? base.run("ROLLBACK")) != nil
            let isKept = state.withLock { state in
                guard isSound, !state.isClosed else { return false }
                state.idle.append(base)
                return true
            }
            if !isKept { try? base.close() }
            leave()
        }

        private func leave() {
            state.withLock { $0.userCount -= 1 }
            finishUnlessUsed()
        }

        private func finishUnlessUsed() {
            let isLast = state.withLock { state in
                guard state.isClosed, state.userCount == 0, !state.isFinished else { return false }
                state.isFinished = true
                return true
            }
            if isLast { lock?.release() }
        }

        static func connect(to path: String, options: StoreOptions) throws(StoreError) -> SQLiteConnection {
            let connection = try SQLiteConnection.plain(
                at: path, isReadOnly: options.isReadOnly, timeoutSeconds: options.timeoutSeconds)
            // Tests kill processes, but never the system, so commits need no sync.
            if !options.isReadOnly { try connection.execute("PRAGMA synchronous = OFF") }
            return connection
        }
    }
#endif
