#if PostgreSQL
    internal import Dispatch
    internal import Foundation
    internal import RoostCore
    internal import RoostSystem

    /// The lock of an open store, which keeps other programs from removing or renaming it.
    ///
    /// It is a shared advisory lock by the name of the store, which a session has until it ends. In
    /// a store with the portable profile it is a ``PostgreSQLLease``.
    final class PostgreSQLStoreLock: Sendable {
        /// The settings, with the profile of the store.
        let settings: PostgreSQLSettings
        private let location: PostgreSQLLocation
        private let connection = Mutex<PostgreSQLConnection?>(nil)
        private let lease: PostgreSQLLease?
        /// The clock of the lease; nil without one.
        let leaseClock: PostgreSQLLeaseClock?
        /// Signaled when the lock is given back.
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
        /// - Throws: `busy` if another session removes or renames the store for longer than the
        ///   timeout; `invalidRequest` for a store with another profile than the settings ask for;
        ///   `notFound`, `notAStore`.
        static func acquire(_ opening: PostgreSQLOpening) throws(StoreError) -> PostgreSQLStoreLock {
            let (location, settings) = (opening.location, opening.settings)
            let connection = try PostgreSQLConnection(location, settings: settings)
            do throws(StoreError) {
                try connection.requireSession(location)
                guard let found = try PostgreSQLProfile.found(location.schema, on: connection) else {
                    try opening.requireStore(connection)
                    throw StoreError(.busy, "'\(location.name)' was made by another program just now; try again.")
                }
                try settings.requireProfile(found, of: location)
                try connection.use(found)
                guard found == .portable else {
                    try lock(location, connection: connection)
                    return PostgreSQLStoreLock(location, connection: connection)
                }
                let lease = try PostgreSQLLease(location.schema, on: connection)
                let sent = try lease.take(alone: false, patience: settings.patience, on: connection)
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

        /// The number of the lock of a schema, as SQL.
        static func key(_ schema: String, connection: PostgreSQLConnection) throws(StoreError) -> String {
            "hashtextextended(\(try connection.literal("roost " + schema)), 0)"
        }

        /// Runs `body`, which needs the session of the lock.
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

        /// Runs `body` while no other program has the store open.
        ///
        /// - Throws: `busy` if one has.
        func withLeaseAlone<Result>(
            _ connection: PostgreSQLConnection, _ body: () throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            guard let lease else { return try body() }
            try lease.take(alone: true, patience: .milliseconds(500), on: connection)
            do throws(StoreError) {
                let result = try body()
                try lease.take(alone: false, patience: .zero, on: connection)
                return result
            } catch {
                // If this fails too, the lease ends by itself.
                _ = try? lease.take(alone: false, patience: .zero, on: connection)
                throw error
            }
        }

        /// Takes the lock again if its session ended, as when the server was started anew.
        ///
        /// A lease is not the session's, and stays.
        func renewIfLost() throws(StoreError) {
            try connection.withLock { (connection) throws(StoreError) in
                guard let known = connection else { return }
                // A transaction that failed is over with it.
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

        /// Settings for a connection that is made at once or not at all.
        private var quickSettings: PostgreSQLSettings {
            var quick = settings
            quick.connectTimeout = min(quick.connectTimeout, PostgreSQLLease.patience)
            return quick
        }

        /// Moves the end of the lease on until the lock is given back.
        private func keepRenewing() throws(StoreError) {
            let isReleased = isReleased
            do throws(SystemFailure) {
                try SystemThread.start("roost lease", stackByteCount: 1 << 20) { [weak self] in
                    while isReleased.wait(timeout: .now() + .seconds(PostgreSQLLease.renewalSeconds)) == .timedOut {
                        guard let self else { return }
                        // What fails now, as while the server is started anew, is tried again before the lease ends.
                        guard (try? renew()) == nil, (try? renewIfLost()) != nil else { continue }
                        try? renew()
                    }
                }
            } catch {
                throw StoreError(
                    .outOfResources, "'\(location.name)' was not opened, because no thread could be started.",
                    underlying: error)
            }
        }

        private func renew() throws(StoreError) {
            guard let lease, let leaseClock else { return }
            try withConnection { (connection) throws(StoreError) in
                let sent = ContinuousClock.now
                let counts = try connection.withPatience(PostgreSQLLease.patience) { () throws(StoreError) in
                    try lease.renew(on: connection)
                }
                if counts { leaseClock.renew(sent) } else { leaseClock.end() }
            }
        }

        /// Gives the lock back.
        func release() {
            isReleased.signal()
            guard let connection = connection.withLock({ $0.take() }) else { return }
            defer { connection.close() }
            guard let lease else { return }
            func giveBack(on connection: PostgreSQLConnection) throws(StoreError) {
                try connection.withPatience(PostgreSQLLease.patience) { () throws(StoreError) in
                    try lease.giveBack(on: connection)
                }
            }
            // A lease that cannot be given back ends by itself.
            guard (try? giveBack(on: connection)) == nil, !connection.isSound,
                let other = try? PostgreSQLConnection(location, settings: quickSettings)
            else { return }
            defer { other.close() }
            try? giveBack(on: other)
        }

        /// Takes the exclusive locks of schemas until the end of the transaction.
        ///
        /// - Throws: `busy` if one of the stores is open anywhere.
        static func takeAlone(_ schemas: [String], in connection: PostgreSQLConnection) throws(StoreError) {
            // A session that was just closed ends a moment later on the server.
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
