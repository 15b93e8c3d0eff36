#if PostgreSQL
    internal import Dispatch
    internal import RoostCore
    internal import RoostSQL
    internal import RoostSystem

    /// An open store on a server: its connections for reading and for writing, and its lock.
    final class PostgreSQLDatabase: SQLParallelDatabase, SQLViewSharing, CommitSignaling {
        private struct State {
            var idleReaders: [PostgreSQLConnection] = []
            var idleWriters: [PostgreSQLConnection] = []
            /// Whether connections for writing stay open after their transactions.
            var keepsWriters = true
            /// A bit set of the writer places that running transactions of this store try first.
            var firstPlaces: UInt64 = 0
            var userCount = 0
            var isClosed = false
            /// Whether a transaction of this store has the lock exclusively; see
            /// ``beginWritingAlone(if:)``.
            var isAlone = false
            /// The lock of the open store; nil after closing.
            var lock: PostgreSQLStoreLock?
            /// The number of commits since the last attempt to remove old commit keys.
            var commitCount = 0
        }

        /// The maximum number of idle connections of each kind.
        private static let mostIdle = 16
        /// The maximum pause before a transaction begins again.
        private static let longestPauseMicroseconds: UInt32 = 64_000
        /// The maximum time for releasing locks before sessions are closed.
        private static let releaseTime = Duration.seconds(1)
        static let commitsPerSweep = 4096
        private static let beginReadingSQL = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

        let location: PostgreSQLLocation
        let settings: PostgreSQLSettings
        private let incarnation: PostgreSQLIncarnation
        private let beginWritingSQL: String
        /// The statements that lock the store for a transaction and for a session; nil with a
        /// lease.
        private let lockSQL: (transaction: String, session: String)?
        private let leaseClock: PostgreSQLLeaseClock?
        private let signal: PostgreSQLSignal
        private let readers: DispatchSemaphore
        private let writers: DispatchSemaphore
        private let state = Mutex(State())

        let dialect: any SQLDialect
        var name: String { location.name }
        var commitSignal: (any CommitSignal)? { signal }

        init(
            _ location: PostgreSQLLocation, lock: PostgreSQLStoreLock, incarnation: PostgreSQLIncarnation
        ) throws(StoreError) {
            (self.location, settings, self.incarnation) = (location, lock.settings, incarnation)
            leaseClock = lock.leaseClock
            dialect = PostgreSQLDialect(settings.profile)
            beginWritingSQL = "BEGIN ISOLATION LEVEL \(settings.isolation.uppercased())"
            lockSQL =
                settings.profile == .portable
                ? nil
                : try lock.withConnection { (connection) throws(StoreError) in
                    let key = try PostgreSQLStoreLock.key(location.schema, connection: connection)
                    return (
                        "SELECT pg_try_advisory_xact_lock_shared(\(key))", "SELECT pg_try_advisory_lock_shared(\(key))"
                    )
                }
            signal = PostgreSQLSignal(location, settings: settings, uuid: incarnation.uuid, lock: lock)
            readers = DispatchSemaphore(value: settings.readerCount)
            writers = DispatchSemaphore(value: settings.writerCount)
            state.withLock { $0.lock = lock }
        }

        deinit { try? close() }

        // MARK: Reading

        func beginReading() throws(StoreError) -> any SQLConnection { try begin(.reading).connection }

        func exportView(of connection: any SQLConnection) throws(StoreError) -> String? {
            guard settings.profile == .postgresql, let connection = connection as? PostgreSQLConnection else {
                return nil
            }
            let what = "Sharing a snapshot of"
            // The server exports no view of a transaction with a savepoint.
            try connection.releaseSavepoint()
            // An error would end the transaction, so a query first checks that the function may be
            // called.
            let canExport =
                "SELECT has_function_privilege(to_regprocedure('pg_catalog.pg_export_snapshot()')::oid, 'EXECUTE')"
            guard try connection.query(canExport, what: what).text(0, column: 0) == "t" else { return nil }
            return try connection.query("SELECT pg_catalog.pg_export_snapshot()", what: what).text(0, column: 0)
        }

        func beginReading(view name: String) throws(StoreError) -> any SQLConnection {
            do throws(StoreError) { return try begin(.readingView(name)).connection } catch {
                // The SQLSTATE of this error differs between versions of the server.
                guard let state = (error.underlying as? PostgreSQLError)?.state,
                    ["22023", "42704", "55000"].contains(state)
                else { throw error }
                throw StoreError(
                    .invalidRequest,
                    "The view of '\(self.name)' cannot be read by another snapshot, because the snapshot that exported it is closed.",
                    underlying: error)
            }
        }

        func endReading(_ connection: any SQLConnection) { end(connection, isReading: true) }

        // MARK: Writing

        func beginWriting() throws(StoreError) -> any SQLConnection { try begin(.writing).connection }

        func beginWritingBesideOthers() throws(StoreError) -> (connection: any SQLConnection, place: SQLWriterPlace) {
            let (connection, row) = try begin(.writingBesideOthers)
            return (connection, SQLWriterPlace(number: Int(clamping: row.place), generationSum: row.generationSum))
        }

        /// Begins a transaction that writes while no other program has the store open or can open
        /// it.
        ///
        /// Meanwhile, other transactions of this store can only read. The exclusive lock ends with
        /// the transaction, and the caller then closes the store. The connection is new, because a
        /// pooled connection could have prepared statements for the old tables.
        ///
        /// Returns nil if `isPossible` returned false.
        ///
        /// - Throws: `busy` if another program has the store open, or if a transaction writes.
        func beginWritingAlone(
            if isPossible: (PostgreSQLConnection) throws(StoreError) -> Bool
        ) throws(StoreError) -> PostgreSQLConnection? {
            // Idle sessions for writing hold the shared lock, which would prevent the exclusive
            // lock.
            let used = state.withLock { state in
                defer { (state.idleWriters, state.keepsWriters) = ([], false) }
                return state.idleWriters
            }
            Self.close(used)
            var isAlone = false
            defer { if !isAlone { state.withLock { $0.keepsWriters = !$0.isAlone } } }
            let connection = try begin(.writingAlone).connection
            do throws(StoreError) {
                guard try isPossible(connection), let lock = state.withLock({ $0.lock }) else {
                    rollBackWriting(connection)
                    return nil
                }
                try lock.makeExclusive(in: connection)
            } catch {
                rollBackWriting(connection)
                throw error
            }
            isAlone = true
            state.withLock { $0.isAlone = true }
            return connection
        }

        /// Returns whether an error is a deadlock, a serialization failure, or a conflict with
        /// another writer over a unique value, a key or a link.
        func isTransient(_ error: StoreError) -> Bool {
            // Errors with other codes may come from `PostgreSQLCommitKey.resolve`. Their underlying
            // error does not show whether the commit failed.
            guard [.busy, .duplicateObject, .constraintViolation, .outOfResources].contains(error.code),
                let error = error.underlying as? PostgreSQLError
            else { return false }
            return error.state == "23505" || error.isTransient(in: settings.profile)
        }

        func commitWriting(_ connection: any SQLConnection) throws(StoreError) {
            guard let connection = connection as? PostgreSQLConnection else { return }
            let key = PostgreSQLCommitKey()
            defer { end(connection, isReading: false) }
            do throws(StoreError) {
                try key.commit(connection, what: "Committing to", fencedBy: fenceSQL)
                guard connection.isIdle else {
                    throw StoreError(.internalInconsistency, "A transaction of '\(name)' is open after its end.")
                }
            } catch {
                let cause = error.underlying as? PostgreSQLError
                if cause?.state == Self.fenceState { throw .postgreSQLStoreReplaced(name, underlying: error) }
                // Only an answer of the server proves that nothing was written.
                if let cause, !cause.isConnectionLoss, error.code != .timedOut { throw error }
                connection.close()
                try key.resolve(after: error, location: location, settings: settings)
            }
            sweepIfDue(on: connection)
        }

        /// The SQLSTATE of ``fenceSQL``: division by zero, which no other statement of a commit
        /// causes.
        private static let fenceState = "22012"

        /// The statement that makes a commit fail if another store has taken the schema's name.
        ///
        /// It is nil without a lease, because the transaction's lock then prevents this.
        private var fenceSQL: String? {
            guard leaseClock != nil else { return nil }
            return
                "SELECT 1 / CASE WHEN to_regclass('_roost_tallies')::oid::bigint = \(incarnation.tableNumber) THEN 1 ELSE 0 END"
        }

        func rollBackWriting(_ connection: any SQLConnection) { end(connection, isReading: false) }

        /// Removes old keys of commits from time to time.
        ///
        /// The connection of the commit is used, because a program that commits on one thread has
        /// no other for writing.
        private func sweepIfDue(on connection: PostgreSQLConnection) {
            guard connection.isIdle else { return }
            let isDue = state.withLock { state in
                state.commitCount += 1
                guard state.commitCount >= Self.commitsPerSweep else { return false }
                state.commitCount = 0
                return true
            }
            guard isDue else { return }
            // The commit is already durable, and a later one repeats a failed removal.
            _ = try? connection.query(PostgreSQLCommitKey.sweep)
        }

        // MARK: Connections

        private enum Purpose: Equatable {
            case reading
            /// Reading the view that another transaction exported under a name.
            case readingView(String)
            case writing
            case writingBesideOthers
            /// Writing alone, without waiting for other transactions.
            ///
            /// If the transaction waited, its shared lock would keep every other transaction from
            /// writing alone.
            case writingAlone

            var isReading: Bool {
                switch self {
                case .reading, .readingView: true
                case .writing, .writingBesideOthers, .writingAlone: false
                }
            }
        }

        private func begin(
            _ purpose: Purpose
        ) throws(StoreError) -> (connection: PostgreSQLConnection, row: PostgreSQLIncarnation.Row) {
            let isReading = purpose.isReading
            let places = isReading ? readers : writers
            try enter()
            var timeout = DispatchTime.now() + .milliseconds(Int(min(settings.timeoutSeconds * 1000, 1e9)))
            // The reader that exported the view may hold the last connection, so this call must not
            // wait.
            if case .readingView = purpose { timeout = .now() }
            guard places.wait(timeout: timeout) == .success else {
                leave()
                throw StoreError(
                    .busy,
                    isReading
                        ? "All connections of '\(name)' for reading are in use; close snapshots, or open the store with more readerConnections."
                        : "All connections of '\(name)' for writing are in use by this program; try again."
                )
            }
            let place = isReading ? nil : takeFirstPlace()
            do throws(StoreError) {
                // A transaction that writes alone takes no pooled connection. Other commits may
                // have refilled the pool after it was emptied.
                while purpose != .writingAlone, let pooled = takeIdle(isReading: isReading) {
                    do throws(StoreError) {
                        pooled.firstPlace = place ?? 0
                        return (pooled, try begin(purpose, on: pooled))
                    } catch {
                        // The server may have ended the connection while it was idle. Then another
                        // is tried.
                        guard (error.underlying as? PostgreSQLError)?.isConnectionLoss == true else { throw error }
                        try state.withLock({ $0.lock })?.renewIfLost()
                    }
                }
                let connection = try PostgreSQLConnection(location, settings: settings)
                connection.firstPlace = place ?? 0
                return (connection, try begin(purpose, on: connection))
            } catch {
                if let place { returnFirstPlace(place) }
                places.signal()
                leave()
                throw error
            }
        }

        /// Begins a transaction, and returns the row of its writer place, or of any place.
        private func begin(
            _ purpose: Purpose, on connection: PostgreSQLConnection
        ) throws(StoreError) -> PostgreSQLIncarnation.Row {
            connection.lease = leaseClock
            let start = ContinuousClock.now
            var pause: UInt32 = 1000
            while true {
                do throws(StoreError) { return try beginOnce(purpose, on: connection) } catch {
                    // In the portable profile, the transaction fails if another one with the same
                    // writer place was committed.
                    guard (error.underlying as? PostgreSQLError)?.isTransient(in: settings.profile) == true,
                        start.duration(to: .now) < settings.timeout, (try? connection.query("ROLLBACK")) != nil
                    else {
                        connection.close(releasingLockWithin: Self.releaseTime)
                        throw error
                    }
                    // A commit makes all transactions that wait for its place fail. If they began
                    // again at once, most of them would fail again.
                    pause = min(pause * 2, Self.longestPauseMicroseconds)
                    usleep(.random(in: 0...pause))
                }
            }
        }

        private func beginOnce(
            _ purpose: Purpose, on connection: PostgreSQLConnection
        ) throws(StoreError) -> PostgreSQLIncarnation.Row {
            let isPortable = settings.profile == .portable
            let (begin, rowSQL) = try statements(purpose, on: connection)
            let what = "Beginning a transaction on"
            connection.transactionCount += 1
            // `lock` is nil if no lock was requested, and false if the lock was not available. The
            // lock prevents the removal or renaming of the store. But the lock from the opening may
            // have been lost, and another store may have the name. So the row is compared with
            // `incarnation`.
            let lock: Bool?
            var row: PostgreSQLIncarnation.Row?
            // Statements can be cancelled only in a task, so a savepoint is needed only there.
            let savepoint = purpose.isReading && PostgreSQLConnection.isInTask ? PostgreSQLView.setSavepoint : nil
            let isFirst = connection.transactionCount == 1
            if isFirst { try connection.query("SET lock_timeout = \(settings.lockTimeout)", what: what) }
            // Every commit writes one of the rows that the sum needs. In the portable profile,
            // reading them in this transaction would conflict with every commit. So a separate
            // transaction reads the sum.
            let sum =
                isPortable && purpose == .writingBesideOthers
                ? try generationSum(on: connection, isFirst: isFirst) : nil
            // Nothing is prepared for the first transaction, which may be the only one, or for a
            // view, whose name is never used again.
            var isPrepared = !isFirst
            if case .readingView = purpose { isPrepared = false }
            // A session that writes keeps the lock for its later transactions.
            let lockSQL =
                purpose.isReading
                ? lockSQL?.transaction : connection.storeLock == .held ? nil : lockSQL?.session
            if !purpose.isReading, lockSQL != nil { connection.storeLock = .requested }
            if !isPrepared {
                let first = try connection.query(
                    [begin, lockSQL].compactMap(\.self).joined(separator: "; "), what: what)
                lock = lockSQL.map { _ in first.text(0, column: 0) == "t" }
                let second = try connection.query(
                    [savepoint, rowSQL].compactMap(\.self).joined(separator: "; "), what: what)
                row = PostgreSQLIncarnation.Row(text: second)
            } else {
                let statements = [begin, lockSQL, savepoint, rowSQL].compactMap(\.self)
                let results = try connection.run(together: statements, what: what)
                lock = lockSQL.map { _ in results.count == statements.count && results[1].integer(0, column: 0) == 1 }
                row = results.last.flatMap { PostgreSQLIncarnation.Row(binary: $0) }
            }
            if purpose.isReading { connection.view = PostgreSQLView(hasSavepoint: savepoint != nil) }
            if let sum { row?.generationSum = sum }
            if !purpose.isReading, let lock { connection.storeLock = lock ? .held : .none }
            // While one transaction of this store has the exclusive lock, the others cannot take
            // the lock. But it protects them too.
            let isLocked = lock != false || state.withLock { $0.isAlone }
            if isLocked, purpose == .writingBesideOthers, row == nil, !isPortable {
                row = try waitForPlace(on: connection)
            }
            if isLocked, row == nil, !isPortable {
                // Another table may have taken the name since the view began. The view lacks its
                // rows.
                let found = try connection.query(PostgreSQLIncarnation.tableNumber, what: what).text(0, column: 0)
                guard found == String(incarnation.tableNumber) else { throw .postgreSQLStoreReplaced(name) }
            }
            return try incarnation.require(row, isLocked: isLocked, name: name)
        }

        private func statements(
            _ purpose: Purpose, on connection: PostgreSQLConnection
        ) throws(StoreError) -> (begin: String, row: String) {
            let isPortable = settings.profile == .portable
            switch purpose {
            case .reading: return (Self.beginReadingSQL, PostgreSQLIncarnation.selectAny)
            case .readingView(let view):
                return (
                    "\(Self.beginReadingSQL); SET TRANSACTION SNAPSHOT \(try connection.literal(view))",
                    PostgreSQLIncarnation.selectAny
                )
            // Without the UPDATE, a transaction that waited for its place would use an old state.
            case .writing where isPortable, .writingAlone where isPortable:
                return (beginWritingSQL, PostgreSQLIncarnation.update())
            case .writingBesideOthers where isPortable:
                let place = Int.random(in: 0..<PostgreSQLDialect.placeCount)
                return (beginWritingSQL, PostgreSQLIncarnation.update(place: place))
            case .writing, .writingAlone:
                let noWait = settings.timeoutSeconds > 0 && purpose != .writingAlone ? "" : " NOWAIT"
                return (beginWritingSQL, "\(PostgreSQLIncarnation.select) ORDER BY place FOR UPDATE\(noWait)")
            case .writingBesideOthers:
                return (beginWritingSQL, PostgreSQLIncarnation.selectFree(from: connection.firstPlace))
            }
        }

        private func generationSum(
            on connection: PostgreSQLConnection, isFirst: Bool
        ) throws(StoreError) -> Int64? {
            let what = "Beginning a transaction on"
            let sql = PostgreSQLIncarnation.sum
            guard isFirst else {
                return try connection.run(together: [sql], what: what).last?.sum(0, column: 0)
            }
            return try connection.query(sql, what: what).text(0, column: 0).flatMap { PostgreSQLSum.wrapping(text: $0) }
        }

        /// Waits until any writer place is free, and locks its row; returns nil if no place exists.
        ///
        /// - Throws: `busy` after the timeout.
        private func waitForPlace(
            on connection: PostgreSQLConnection
        ) throws(StoreError) -> PostgreSQLIncarnation.Row? {
            let deadline = ContinuousClock.now + settings.timeout
            let what = "Beginning a transaction on"
            let rowSQL = PostgreSQLIncarnation.selectFree()
            while true {
                if let row = PostgreSQLIncarnation.Row(text: try connection.query(rowSQL, what: what)) { return row }
                guard ContinuousClock.now < deadline else { break }
                usleep(.random(in: 500...5000))
            }
            let any = try connection.query(PostgreSQLIncarnation.selectAny, what: what)
            guard PostgreSQLIncarnation.Row(text: any) != nil else { return nil }
            throw StoreError(
                .busy, "Cannot write to '\(name)': a load or too many other commits are running. Try again.")
        }

        private func end(_ connection: any SQLConnection, isReading: Bool) {
            if let connection = connection as? PostgreSQLConnection {
                connection.abandonWork()
                if connection.isSound, !connection.isIdle { _ = try? connection.query("ROLLBACK") }
                if !isReading { returnFirstPlace(connection.firstPlace) }
                keep(connection, isReading: isReading)
            }
            (isReading ? readers : writers).signal()
            leave()
        }

        private func keep(_ connection: PostgreSQLConnection, isReading: Bool) {
            (connection.unusedCursors, connection.view) = ([], nil)
            let isKept =
                connection.isSound && connection.isIdle
                && state.withLock { state in
                    guard !state.isClosed else { return false }
                    if isReading {
                        guard state.idleReaders.count < Self.mostIdle else { return false }
                        state.idleReaders.append(connection)
                    } else {
                        guard state.keepsWriters, state.idleWriters.count < Self.mostIdle else { return false }
                        state.idleWriters.append(connection)
                    }
                    return true
                }
            if !isKept { Self.close([connection]) }
        }

        private func takeIdle(isReading: Bool) -> PostgreSQLConnection? {
            state.withLock { isReading ? $0.idleReaders.popLast() : $0.idleWriters.popLast() }
        }

        private static func close(_ connections: [PostgreSQLConnection]) {
            let start = ContinuousClock.now
            for connection in connections {
                connection.close(releasingLockWithin: releaseTime - start.duration(to: .now))
            }
        }

        /// Returns the lowest place that no other transaction of this store tries first.
        ///
        /// So concurrent writers of one program first try different places. A single writer always
        /// adds its changes to the tallies of the same place.
        private func takeFirstPlace() -> Int {
            state.withLock { state in
                let place = (~state.firstPlaces).trailingZeroBitCount
                // There are fewer connections for writing than places.
                guard place < PostgreSQLDialect.placeCount else { return 0 }
                state.firstPlaces |= 1 << UInt64(place)
                return place
            }
        }

        private func returnFirstPlace(_ place: Int) {
            state.withLock { $0.firstPlaces &= ~(1 << UInt64(place)) }
        }

        private func enter() throws(StoreError) {
            try state.withLock { (state) throws(StoreError) in
                guard !state.isClosed else { throw StoreError(.closed, "The store '\(name)' was closed before.") }
                state.userCount += 1
            }
        }

        private func leave() {
            let lock = state.withLock { state in
                state.userCount -= 1
                return state.isClosed && state.userCount == 0 ? state.lock.take() : nil
            }
            lock?.release()
        }

        // MARK: The end

        func close() throws(StoreError) {
            let (connections, lock) = state.withLock { state in
                state.isClosed = true
                let connections = state.idleReaders + state.idleWriters
                (state.idleReaders, state.idleWriters) = ([], [])
                return (connections, state.userCount == 0 ? state.lock.take() : nil)
            }
            signal.finish()
            Self.close(connections)
            lock?.release()
        }

        func byteCount() throws(StoreError) -> Int {
            let connection = try beginReading()
            defer { endReading(connection) }
            if settings.profile == .portable {
                // Some servers lack the function `pg_total_relation_size`.
                let function = "SELECT COUNT(*) FROM pg_proc WHERE proname = 'pg_total_relation_size'"
                guard let count = try connection.integer(function), count > 0 else { return 0 }
            }
            let schema = SQLValue.text(location.schema)
            return try connection.withStatement(PostgreSQLCatalog.byteCount) { (statement) throws(StoreError) -> Int in
                try statement.bind(schema, at: 1)
                return try statement.step() ? Int(clamping: try statement.integer(at: 0)) : 0
            }
        }

        /// Updates the planner's statistics of all tables, after a load has filled them.
        func beginIndexing(_ connection: any SQLConnection) throws(StoreError) {
            guard let connection = connection as? PostgreSQLConnection else { return }
            // While the model is being changed, the new tables are in another schema.
            let schema = try connection.query("SELECT current_schema()").text(0, column: 0)
            let tables = try PostgreSQLCatalog.tables(of: schema ?? location.schema, on: connection)
            guard !tables.isEmpty else { return }
            try connection.query("ANALYZE \(tables.map { PostgreSQLDialect().quote($0) }.joined(separator: ", "))")
        }
    }
#endif
