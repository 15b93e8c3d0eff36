#if PostgreSQL
    internal import Dispatch
    internal import Foundation
    internal import RoostCore
    internal import RoostSystem

    /// The lock that keeps other programs from removing or renaming an open store.
    ///
    /// A session holds it as a shared advisory lock on the store's name. A store with the portable
    /// profile uses a ``PostgreSQLLease`` instead.
    final class PostgreSQLStoreLock: Sendable {
        let settings: PostgreSQLSettings
        private let location: PostgreSQLLocation
        private let connection = Mutex<PostgreSQLConnection?>(nil)
        private let lease: PostgreSQLLease?
        let leaseClock: PostgreSQLLeaseClock?
        /// Signaled when the lock is released.
        private let isReleased = DispatchSemaphore(value: 0)

        private init(
            _ location: PostgreSQLLocation, connection: PostgreSQLConnection,
            lease: (PostgreSQLLease, sent: ContinuousClock.Instant)? = nil
        ) {
            (self.location, self.lease, settings) = (location, lease?.0, connection.settings)
            leaseClock = lease.map { PostgreSQLLeaseClock($0.sent) }
            self.connection.withLock { $0 = connection }
        }

        /// Takes the shared lock of a store.
        ///
        /// - Throws: `busy` if the store was just created, or is being removed or renamed for
        ///   longer than the timeout; `invalidRequest` if the store has another profile than
        ///   requested; `notFound`; `notAStore`; `permissionDenied`; `outOfResources`; errors of
        ///   connecting.
        static func acquire(_ opening: PostgreSQLOpening) throws(StoreError) -> PostgreSQLStoreLock {
            let (location, settings) = (opening.location, opening.settings)
            let connection = try PostgreSQLConnection(location, settings: settings)
            do throws(StoreError) {
                try connection.requireSession(location)
                guard let found = try PostgreSQLProfile.found(location.schema, on: connection) else {
                    try opening.requireStore(connection)
                    throw StoreError(.busy, "'\(location.name)' was just created by another program; try again.")
                }
                try settings.requireProfile(found, of: location)
                try connection.use(found)
                guard found == .portable else {
                    try lock(location, connection: connection)
                    return PostgreSQLStoreLock(location, connection: connection)
                }
                let lease = try PostgreSQLLease(location.schema, on: connection)
                let sent = try lease.take(alone: false, timeout: settings.timeout, on: connection)
                let made = PostgreSQLStoreLock(location, connection: connection, lease: (lease, sent))
                try made.keepRenewing()
                return made
            } catch {
                connection.close()
                throw error
            }
        }

        /// Takes the advisory lock, if the profile has one.
        private static func lock(
            _ location: PostgreSQLLocation, connection: PostgreSQLConnection
        ) throws(StoreError) {
            guard connection.settings.profile == .postgresql else { return }
            try connection.query("SET lock_timeout = \(connection.settings.lockTimeout)")
            try connection.query("SELECT pg_advisory_lock_shared(\(try key(location.schema, connection: connection)))")
            try connection.query("SET lock_timeout = 0")
        }

        static func key(_ schema: String, connection: PostgreSQLConnection) throws(StoreError) -> String {
            "hashtextextended(\(try connection.literal("roost " + schema)), 0)"
        }

        func withConnection<Result>(
            _ body: (PostgreSQLConnection) throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            try connection.withLock { (connection) throws(StoreError) in
                guard let connection else {
                    throw StoreError(.closed, "The store '\(location.name)' was closed before.")
                }
                return try body(connection)
            }
        }

        /// Runs `body`, and makes the lease of the store, if any, exclusive for that time.
        ///
        /// - Throws: `busy` if another program has the store open.
        func withLeaseAlone<Result>(
            _ connection: PostgreSQLConnection, _ body: () throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            guard let lease else { return try body() }
            try lease.take(alone: true, timeout: .milliseconds(500), on: connection)
            do throws(StoreError) {
                let result = try body()
                try lease.take(alone: false, timeout: .zero, on: connection)
                return result
            } catch {
                // If this fails too, the exclusive lease expires later.
                _ = try? lease.take(alone: false, timeout: .zero, on: connection)
                throw error
            }
        }

        /// Replaces the shared lock with an exclusive lock of a transaction in another session.
        ///
        /// That transaction has a shared lock of its own, so no other program can take the
        /// exclusive lock in between. The exclusive lock ends with the transaction.
        ///
        /// - Throws: `busy` if another program has the store open. The shared lock is then taken
        ///   again. If that fails, the store is locked only during its transactions.
        func makeExclusive(in connection: PostgreSQLConnection) throws(StoreError) {
            try withConnection { (session) throws(StoreError) in
                let key = try Self.key(location.schema, connection: session)
                try session.query("SELECT pg_advisory_unlock_shared(\(key))")
                do throws(StoreError) { try Self.takeAlone([location.schema], in: connection) } catch {
                    try? Self.lock(location, connection: session)
                    throw error
                }
            }
        }

        /// Takes the lock again if its session ended; a lease does not depend on the session.
        func renewIfLost() throws(StoreError) {
            try connection.withLock { (connection) throws(StoreError) in
                guard let known = connection else { return }
                // The ROLLBACK also ends a failed transaction.
                if (try? known.query("ROLLBACK; SELECT 1")) != nil { return }
                known.close()
                let new = try PostgreSQLConnection(location, settings: lease == nil ? settings : quickSettings)
                do throws(StoreError) {
                    try new.requireSession(location)
                    try Self.lock(location, connection: new)
                } catch {
                    new.close()
                    throw error
                }
                connection = new
            }
        }

        private var quickSettings: PostgreSQLSettings {
            var quick = settings
            quick.connectTimeout = min(quick.connectTimeout, PostgreSQLLease.timeout)
            return quick
        }

        /// Starts a thread that extends the lease until the lock is released.
        private func keepRenewing() throws(StoreError) {
            let isReleased = isReleased
            do throws(SystemFailure) {
                try SystemThread.start("roost lease", stackByteCount: 1 << 20) { [weak self] in
                    var pause = PostgreSQLLease.pause
                    while isReleased.wait(timeout: .now() + pause) == .timedOut {
                        guard let self else { return }
                        var isRenewed = (try? renew()) != nil
                        if !isRenewed, (try? renewIfLost()) != nil { isRenewed = (try? renew()) != nil }
                        pause = isRenewed ? PostgreSQLLease.pause : PostgreSQLLease.pauseAfterFailure
                    }
                }
            } catch {
                throw StoreError(
                    .outOfResources, "Cannot open '\(location.name)': no thread could be started.",
                    underlying: error)
            }
        }

        private func renew() throws(StoreError) {
            guard let lease, let leaseClock else { return }
            try withConnection { (connection) throws(StoreError) in
                let sent = ContinuousClock.now
                let counts = try connection.withTimeout(PostgreSQLLease.timeout) { () throws(StoreError) in
                    try lease.renew(on: connection)
                }
                if counts { leaseClock.renew(sent) } else { leaseClock.end() }
            }
        }

        func release() {
            isReleased.signal()
            guard let connection = connection.withLock({ $0.take() }) else { return }
            defer { connection.close() }
            guard let lease else {
                // A pooler may keep the server's session, and its lock, for another client.
                _ = try? connection.withTimeout(.seconds(1)) { () throws(StoreError) in
                    try connection.query("SELECT pg_advisory_unlock_all()")
                }
                return
            }
            func giveBack(on connection: PostgreSQLConnection) throws(StoreError) {
                try connection.withTimeout(PostgreSQLLease.timeout) { () throws(StoreError) in
                    try lease.giveBack(on: connection)
                }
            }
            // A lease that cannot be released expires.
            guard (try? giveBack(on: connection)) == nil, !connection.isSound,
                let other = try? PostgreSQLConnection(location, settings: quickSettings)
            else { return }
            defer { other.close() }
            try? giveBack(on: other)
        }

        /// Takes exclusive locks on schemas, which last until the end of the transaction.
        ///
        /// - Throws: `busy` if one of the stores is open anywhere.
        static func takeAlone(_ schemas: [String], in connection: PostgreSQLConnection) throws(StoreError) {
            // The server may notice the end of a session late, so the lock is requested repeatedly.
            let deadline = ContinuousClock.now + .milliseconds(500)
            for schema in schemas.sorted() {
                let sql = "SELECT pg_try_advisory_xact_lock(\(try key(schema, connection: connection)))"
                while try connection.query(sql).text(0, column: 0) != "t" {
                    guard ContinuousClock.now >= deadline else {
                        Thread.sleep(forTimeInterval: 0.01)
                        continue
                    }
                    throw StoreError(
                        .busy,
                        "The store '\(schema)' of '\(connection.name)' is open, here or in another program. Close it first."
                    )
                }
            }
        }
    }
#endif
