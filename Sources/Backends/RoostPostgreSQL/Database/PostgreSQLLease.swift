#if PostgreSQL
    internal import Dispatch
    internal import Foundation
    internal import RoostCore

    /// A row that marks a store as open, on a server without advisory locks.
    ///
    /// A lease expires unless the program extends it. To remove or rename a store, or to turn its
    /// history on or off, a program takes an exclusive lease, which keeps others from opening it.
    struct PostgreSQLLease: Sendable {
        static let table = "_roost_openings"
        static let creation =
            "CREATE TABLE \(table) (id UUID NOT NULL PRIMARY KEY, until TIMESTAMP WITH TIME ZONE NOT NULL, is_alone BOOLEAN NOT NULL)"
        /// The duration of a shared lease, in seconds.
        static let seconds = 20
        /// The duration of an exclusive lease, which is never extended, in seconds.
        static let secondsAlone = 30
        /// The time between two extensions of a lease.
        static let pause = DispatchTimeInterval.seconds(5)
        /// The time between a failed attempt to extend a lease and the next attempt.
        static let pauseAfterFailure = DispatchTimeInterval.milliseconds(500)
        /// The maximum wait for a connection or an answer when a lease is extended or released.
        static let timeout = Duration.seconds(3)

        static func exists(in schema: String, on connection: PostgreSQLConnection) throws(StoreError) -> Bool {
            try PostgreSQLCatalog.tables(of: schema, on: connection).contains(table)
        }

        private let table: String
        private let id = UUID()
        private let storeName: String

        /// Creates a lease without taking it.
        init(_ schema: String, on connection: PostgreSQLConnection) throws(StoreError) {
            storeName = schema
            table = "\(try connection.identifier(schema)).\(Self.table)"
        }

        private func end(alone isAlone: Bool) -> String {
            "clock_timestamp() + interval '\(isAlone ? Self.secondsAlone : Self.seconds) seconds'"
        }

        /// Takes the lease, or changes it between shared and exclusive.
        ///
        /// The connection must have no transaction. The timeout limits the wait for other leases.
        /// Returns the time at which the successful attempt began.
        ///
        /// - Throws: `busy` if another lease prevents this until the timeout.
        @discardableResult
        func take(
            alone isAlone: Bool, timeout: Duration, on connection: PostgreSQLConnection
        ) throws(StoreError) -> ContinuousClock.Instant {
            let deadline = ContinuousClock.now + timeout
            while true {
                let sent = ContinuousClock.now
                let isFree = try connection.retrying { () throws(StoreError) -> Bool in
                    try connection.query("DELETE FROM \(table) WHERE until < clock_timestamp()")
                    let others = try connection.query(
                        "SELECT 1 FROM \(table) WHERE id <> '\(id)'\(isAlone ? "" : " AND is_alone") LIMIT 1")
                    guard others.rowCount == 0 else { return false }
                    try connection.query(
                        "INSERT INTO \(table) (id, until, is_alone) VALUES ('\(id)', \(end(alone: isAlone)), \(isAlone)) ON CONFLICT (id) DO UPDATE SET until = excluded.until, is_alone = excluded.is_alone"
                    )
                    return true
                }
                if isFree { return sent }
                guard ContinuousClock.now < deadline else {
                    throw StoreError(
                        .busy,
                        isAlone
                            ? "The store '\(storeName)' of '\(connection.name)' is open, here or in another program. Close it first; after a crash, wait \(Self.seconds) seconds."
                            : "'\(connection.name)' is being removed, replaced or changed by another program; try again."
                    )
                }
                Thread.sleep(forTimeInterval: 0.02)
            }
        }

        /// Throws `busy` unless the exclusive lease is still valid.
        func requireAlone(on connection: PostgreSQLConnection) throws(StoreError) {
            let own = try connection.query(
                "SELECT 1 FROM \(table) WHERE id = '\(id)' AND is_alone AND until > clock_timestamp()")
            guard own.rowCount == 1 else {
                throw StoreError(
                    .busy,
                    "Cannot change '\(connection.name)': the server took longer than \(Self.secondsAlone) seconds. Try again."
                )
            }
        }

        /// Extends the lease, and returns whether it still existed.
        ///
        /// If not, another program found it expired, and the store may have been replaced.
        func renew(on connection: PostgreSQLConnection) throws(StoreError) -> Bool {
            try connection.query("UPDATE \(table) SET until = \(end(alone: false)) WHERE id = '\(id)'")
            return connection.changedRowCount == 1
        }

        /// Releases the lease; `schema` is the current schema of a renamed store.
        func giveBack(in schema: String? = nil, on connection: PostgreSQLConnection) throws(StoreError) {
            var table = table
            if let schema { table = "\(try connection.identifier(schema)).\(Self.table)" }
            try connection.retrying { () throws(StoreError) in
                _ = try connection.query("DELETE FROM \(table) WHERE id = '\(id)'")
            }
        }
    }

    /// A local clock that shows whether a lease may have ended, for example while the program was
    /// suspended.
    ///
    /// Then another program may have replaced the store.
    final class PostgreSQLLeaseClock: Sendable {
        /// The time after a renewal in which no other program can find the lease expired.
        ///
        /// Messages that are sent in this time should reach the server before the lease ends.
        private static let safe = Duration.seconds(PostgreSQLLease.seconds - 5)

        private let lastRenewal: Mutex<ContinuousClock.Instant?>

        init(_ sent: ContinuousClock.Instant) { lastRenewal = Mutex(sent) }

        /// Records a renewal that was sent at the given time.
        func renew(_ sent: ContinuousClock.Instant) { lastRenewal.withLock { if $0 != nil { $0 = sent } } }

        func end() { lastRenewal.withLock { $0 = nil } }

        /// Throws `storeReplaced` if the lease ended, and `busy` if the last renewal is too old.
        func requireCounting(_ name: String) throws(StoreError) {
            let last = lastRenewal.withLock { $0 }
            guard let last else {
                throw StoreError(
                    .storeReplaced,
                    "This program was stopped or could not reach the server for \(PostgreSQLLease.seconds) seconds, so '\(name)' may have been replaced. Close the store and open it again."
                )
            }
            guard ContinuousClock.now - last < Self.safe else {
                throw StoreError(
                    .busy, "The server of '\(name)' did not confirm in time that the store is open; try again.")
            }
        }
    }

    extension PostgreSQLConnection {
        private static let mostAttempts = 50

        /// Runs `body` in a transaction, and repeats it after a conflict with concurrent writers.
        func retrying<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            var attempt = 0
            while true {
                do throws(StoreError) { return try transaction(body) } catch {
                    guard attempt < Self.mostAttempts,
                        (error.underlying as? PostgreSQLError)?.isTransient(in: .portable) == true
                    else { throw error }
                    attempt += 1
                    Thread.sleep(forTimeInterval: .random(in: 0...0.001 * Double(min(attempt, 20))))
                }
            }
        }
    }
#endif
