#if PostgreSQL
    internal import CPostgreSQL
    internal import Dispatch
    internal import RoostCore
    internal import RoostSystem

    /// A connection to a server, for one thread at a time.
    ///
    /// Each wait for the socket has a deadline, so a dead network causes an error.
    package final class PostgreSQLConnection {
        /// The name of the store in messages.
        let name: String
        private(set) var settings: PostgreSQLSettings
        private var handle: OpaquePointer?
        /// The maximum wait for an answer before a deadline is computed.
        private static let soonMilliseconds: Int32 = 20
        /// The checks that are called while a statement runs; an error of a check ends the
        /// statement.
        var checks: [() throws(StoreError) -> Void] = []
        /// Whether the connection waits for the end of a cancelled statement.
        var isCancelling = false
        /// The maximum time to wait for an answer, or nil for the value in the settings.
        var timeout: Duration?
        /// The clock of the lease, checked at each use of the connection; nil without a lease.
        var lease: PostgreSQLLeaseClock?
        /// The number of rows that the last command outside a pipeline changed or returned.
        package private(set) var changedRowCount = 0
        var prepared: [PostgreSQLStatementText: PostgreSQLPrepared] = [:]
        var lastNumber = 0
        var transactionCount = 0
        var storeLock = StoreLockState.none
        /// The writer place that the transaction tries first.
        ///
        /// A transaction that writes locks a free writer place: a row with the kind `generation` in
        /// the table `_roost_tallies`.
        var firstPlace = 0
        var openCopy: PostgreSQLCopy?
        /// The FETCH whose answer has not been read yet, if any.
        var ahead: PostgreSQLRowsAhead?
        /// The number of statements in the pipeline whose results have not been read.
        var deferredCount = 0
        /// Whether statements are sent without waiting for their results.
        var isDeferring = false
        /// The cursors of the transaction that are no longer needed but not yet closed.
        var unusedCursors: [String] = []
        /// The view that the transaction reads for a snapshot; nil for other transactions.
        var view: PostgreSQLView?

        /// Connects to a server.
        ///
        /// - Throws: `ioFailure` if the server cannot be reached; `notFound` if the database does
        ///   not exist; `busy` if the server has no free connection; `unsupported` for the server's
        ///   version or encoding; `permissionDenied`; `timedOut`; `outOfResources`.
        init(_ location: PostgreSQLLocation, settings: PostgreSQLSettings) throws(StoreError) {
            name = location.name
            self.settings = settings
            try connect(location)
            do throws(StoreError) { try prepareSession(location) } catch {
                close()
                throw error
            }
        }

        /// Connects to a server, but leaves the preparation of the session to the caller.
        ///
        /// - Throws: As ``init(_:settings:)``, except `unsupported`.
        init(unprepared location: PostgreSQLLocation, settings: PostgreSQLSettings) throws(StoreError) {
            name = location.name
            self.settings = settings
            try connect(location)
        }

        deinit { close() }

        func close() {
            if let handle { PQfinish(handle) }
            handle = nil
            (openCopy, ahead, deferredCount) = (nil, nil, 0)
        }

        /// Whether the connection is open and, according to libpq, usable.
        var isSound: Bool { handle.map { PQstatus($0) == CONNECTION_OK } ?? false }

        /// Whether a command is running, or a transaction is open and has not failed.
        package var isInTransaction: Bool {
            guard let handle else { return false }
            switch PQtransactionStatus(handle) {
            case PQTRANS_INTRANS, PQTRANS_ACTIVE: return true
            default: return false
            }
        }

        /// Whether an error has ended the open transaction, so that it can only be rolled back.
        var hasFailedTransaction: Bool { handle.map { PQtransactionStatus($0) == PQTRANS_INERROR } ?? false }

        /// Whether the connection is open and has neither a transaction nor a running command.
        var isIdle: Bool { handle.map { PQtransactionStatus($0) == PQTRANS_IDLE } ?? false }

        /// The version of the server, such as 150018 for 15.18; 0 after closing.
        var serverVersion: Int { handle.map { Int(PQserverVersion($0)) } ?? 0 }

        // MARK: Deadlines

        struct Deadline {
            let instant: ContinuousClock.Instant
            /// The option that sets the limit, for messages; nil if no option sets it.
            let option: String?

            init(after limit: Duration, option: String?) {
                instant = ContinuousClock.now + limit
                self.option = option
            }
        }

        private var connectDeadline: Deadline {
            Deadline(after: settings.connectTimeout, option: "connectTimeoutSeconds")
        }

        var responseDeadline: Deadline {
            Deadline(after: settings.responseTimeout, option: "responseTimeoutSeconds")
        }

        // MARK: Connecting

        private func connect(_ location: PostgreSQLLocation) throws(StoreError) {
            var parameters = location.parameters
            // TCP keepalive detects a dead server even while no answer is awaited. The location's
            // parameters override these values, except for the encoding.
            for (key, value) in [
                ("client_encoding", "UTF8"), ("fallback_application_name", "roost"), ("keepalives_idle", "30"),
                ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ] where !parameters.contains(where: { $0.key == key }) || key == "client_encoding" {
                parameters.removeAll { $0.key == key }
                parameters.append((key, value))
            }
            let keys = parameters.map { strdup($0.key) }
            let values = parameters.map { strdup($0.value) }
            defer { for text in keys + values { free(text) } }
            let connection = (keys.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { keys in
                (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { values in
                    PQconnectStartParams(keys.baseAddress, values.baseAddress, 0)
                }
            }
            guard let connection else {
                throw StoreError(.outOfResources, "Cannot connect to '\(name)': memory is used up.")
            }
            handle = connection
            // Notices of the server are not printed on this program's error stream.
            PQsetNoticeReceiver(connection, { _, _ in }, nil)
            let deadline = connectDeadline
            var state = PGRES_POLLING_WRITING
            while PQstatus(connection) != CONNECTION_BAD {
                switch state {
                case PGRES_POLLING_OK:
                    guard PQsetnonblocking(connection, 1) == 0 else { throw lost("Connecting to") }
                    return
                case PGRES_POLLING_READING: try wait(connection, events: POLLIN, until: deadline, what: "Connecting to")
                case PGRES_POLLING_WRITING:
                    try wait(connection, events: POLLOUT, until: deadline, what: "Connecting to")
                default: throw refused(connection)
                }
                state = PQconnectPoll(connection)
            }
            throw refused(connection)
        }

        /// Returns the error of a failed connection attempt, for which libpq provides no SQLSTATE.
        private func refused(_ connection: OpaquePointer) -> StoreError {
            let text = Self.line(PQerrorMessage(connection))
            if PQconnectionNeedsPassword(connection) != 0 {
                return StoreError(
                    .permissionDenied,
                    "The server of '\(name)' requires a password. Set PGPASSWORD, or write the password into ~/.pgpass or a service file.",
                    underlying: PostgreSQLError(state: "28P01", text: text))
            }
            var state = ""
            if text.contains("does not exist") && text.contains("database") {
                state = "3D000"
            } else if text.contains("too many") || text.contains("connection slots") {
                state = "53300"
            } else if text.contains("authentication failed") || text.contains("no pg_hba.conf entry")
                || text.contains("role ") && text.contains("does not exist")
            {
                state = "28000"
            }
            return .postgreSQL(PostgreSQLError(state: state, text: text), what: "Connecting to", name: name)
        }

        /// The maximum values of settings by which the server notices a lost client.
        ///
        /// Until then, the session keeps its locks. By default, Linux checks a silent connection
        /// only after two hours. With these settings, the server notices the loss in about a
        /// minute.
        private static let connectionLimits = [
            ("tcp_keepalives_idle", 30), ("tcp_keepalives_interval", 10), ("tcp_keepalives_count", 3),
            ("tcp_user_timeout", 60_000),
        ]

        private func prepareSession(_ location: PostgreSQLLocation) throws(StoreError) {
            guard serverVersion >= 120_000 else {
                throw StoreError(
                    .unsupported,
                    "The server of '\(name)' has version \(serverVersion); stores need PostgreSQL 12 or later.")
            }
            // With these settings, the server looks up names in the system schema, then in the
            // store's schema. It answers a COMMIT only after the commit is durable.
            let schema = try literal(PostgreSQLDialect().quote(location.schema))
            let limits = Self.connectionLimits.map { "('\($0)', \($1))" }.joined(separator: ", ")
            // A distributed server may lack the settings of `connectionLimits`. On a Unix socket,
            // these settings have no effect and are shown as 0.
            let limitsSQL =
                "SELECT count(set_config(name, LEAST(NULLIF(current_setting(name)::int, 0), value)::text, false)) FROM (VALUES \(limits)) AS l (name, value) WHERE current_setting(name, true) IS NOT NULL"
            let sql =
                "SELECT set_config('search_path', \(schema), false), set_config('standard_conforming_strings', 'on', false), set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false), set_config('row_security', 'off', false), set_config('default_transaction_isolation', '\(settings.isolation)', false), set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false), current_setting('server_encoding'), (\(limitsSQL))"
            let result = try query(sql)
            // A role may have other defaults for these timeouts, which older servers lack.
            if serverVersion >= 140_000 { try query("SET idle_session_timeout = 0") }
            if serverVersion >= 170_000 { try query("SET transaction_timeout = 0") }
            guard result.text(0, column: 7) == "UTF8" else {
                throw StoreError(
                    .unsupported,
                    "The database of '\(name)' has the encoding \(result.text(0, column: 7) ?? "?"); stores need UTF8: createdb --encoding=UTF8 --template=template0."
                )
            }
        }

        /// Runs `body` with a time limit for each answer of the server.
        func withTimeout<Result>(
            _ timeout: Duration, _ body: () throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            self.timeout = timeout
            defer { self.timeout = nil }
            return try body()
        }

        /// The state of a session's shared lock on the store.
        enum StoreLockState {
            case none
            /// The lock was requested, and no answer came yet.
            case requested
            case held
        }

        /// Closes the connection after releasing the session's lock, if it has one.
        ///
        /// The server notices the end of a session only after some time. Until then, the lock could
        /// prevent an exclusive lock. Without an answer in time, the lock ends with the session.
        func close(releasingLockWithin limit: Duration) {
            if storeLock != .none, isSound, limit > .zero {
                _ = try? withTimeout(limit) { () throws(StoreError) in
                    abandonWork()
                    if !isIdle { try query("ROLLBACK") }
                    try query("SELECT pg_advisory_unlock_all()")
                }
            }
            close()
        }

        /// Sets the profile, and the isolation level of its transactions.
        func use(_ profile: PostgreSQLProfile) throws(StoreError) {
            guard settings.profile != profile else { return }
            settings.profile = profile
            try query("SET default_transaction_isolation = '\(settings.isolation)'")
        }

        /// Refuses a connection pooler in transaction mode, which can change the server session.
        ///
        /// Another session lacks the lock and the settings. With any pooler, the process ID that
        /// libpq received differs from that of the server's session. Only a second connection shows
        /// the pooler's mode.
        ///
        /// - Throws: `unsupported` for such a pooler, and errors of the server.
        func requireSession(_ location: PostgreSQLLocation) throws(StoreError) {
            func number(_ connection: PostgreSQLConnection) throws(StoreError) -> String? {
                try connection.query("SELECT pg_backend_pid()").text(0, column: 0)
            }
            let own = try number(self)
            guard own != String(PQbackendPID(try open())) else { return }
            // In transaction mode, `other` gets the server's session that this connection just
            // left.
            let other = try PostgreSQLConnection(location, settings: settings)
            defer { other.close() }
            try other.query("BEGIN")
            guard try number(other) != own, try number(self) == own else {
                throw StoreError(
                    .unsupported,
                    "'\(name)' is reached through a connection pooler in transaction mode, such as PgBouncer with pool_mode = transaction. Use session mode, or connect to the server itself."
                )
            }
        }

        /// Returns a text as a literal, for the few statements that cannot have parameters.
        func literal(_ text: String) throws(StoreError) -> String {
            try escaped(text) { PQescapeLiteral($0, $1, $2) }
        }

        func identifier(_ text: String) throws(StoreError) -> String {
            try escaped(text) { PQescapeIdentifier($0, $1, $2) }
        }

        private func escaped(
            _ text: String, _ escape: (OpaquePointer, UnsafePointer<CChar>?, Int) -> UnsafeMutablePointer<CChar>?
        ) throws(StoreError) -> String {
            let connection = try open()
            let count = text.utf8.count
            guard !text.utf8.contains(0), let escaped = text.withCString({ escape(connection, $0, count) }) else {
                throw StoreError(.invalidRequest, "A name or a text of '\(name)' cannot be written in a statement.")
            }
            defer { PQfreemem(escaped) }
            return String(cString: escaped)
        }

        // MARK: Commands

        func open() throws(StoreError) -> OpaquePointer {
            guard let handle else { throw StoreError(.closed, "A connection to '\(name)' was closed before.") }
            if let lease { try lease.requireCounting(name) }
            return handle
        }

        /// Runs statements without parameters, and returns the last result, in text format.
        @discardableResult
        func query(_ sql: String, what: String = "A statement on") throws(StoreError) -> PostgreSQLResult {
            try requireText(sql)
            try settle()
            let connection = try open()
            guard PQsendQuery(connection, sql) == 1 else { throw lost(what) }
            return try finish(what)
        }

        func send(
            _ parameters: PostgreSQLParameters, what: String = "A statement on",
            _ call: (
                OpaquePointer, Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
                UnsafePointer<Int32>?
            ) ->
                Int32
        ) throws(StoreError) -> PostgreSQLResult {
            try settle()
            let connection = try open()
            let isSent = parameters.withPointers { call(connection, $0, $1, $2, $3) }
            guard isSent == 1 else { throw lost(what) }
            return try finish(what)
        }

        /// Waits for the results of the sent statement; returns the last one, or the start of a
        /// COPY.
        func finish(_ what: String) throws(StoreError) -> PostgreSQLResult {
            var last: PostgreSQLResult?
            var failure: PostgreSQLError?
            while let result = try next(what) {
                if let error = result.error { failure = failure ?? error }
                last = result
                switch result.status {
                case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                    changedRowCount = 0
                    return result
                default: break
                }
            }
            if let failure { throw StoreError.postgreSQL(failure, what: what, name: name) }
            guard let last else { throw lost(what) }
            changedRowCount = last.changedRowCount
            return last
        }

        /// Waits for the next result, and returns it, or nil at the end of a command.
        func next(_ what: String) throws(StoreError) -> PostgreSQLResult? {
            let connection = try open()
            // Usually, the end of a command arrives with its result.
            if !hasResult(connection) {
                // Most answers come soon. Computing a deadline takes longer than the rest of this
                // method.
                if checks.isEmpty, PQflush(connection) == 0, isReadableSoon(connection) {
                    guard PQconsumeInput(connection) == 1 else { throw lost(what) }
                }
                if !hasResult(connection) { try waitForResult(connection, what: what) }
            }
            return PQgetResult(connection).map { PostgreSQLResult($0) }
        }

        /// Returns whether all bytes were sent, and the next result or the end of a command has
        /// arrived.
        private func hasResult(_ connection: OpaquePointer) -> Bool {
            PQisBusy(connection) == 0 && PQflush(connection) == 0
        }

        /// Waits a short time for bytes from the server, and returns whether any arrived.
        private func isReadableSoon(_ connection: OpaquePointer) -> Bool {
            let socket = PQsocket(connection)
            guard socket >= 0 else { return false }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            return poll(&entry, 1, Self.soonMilliseconds) > 0
        }

        private func waitForResult(_ connection: OpaquePointer, what: String) throws(StoreError) {
            // The end of a cancelled statement must come within the connection timeout.
            let deadline =
                isCancelling
                ? connectDeadline : timeout.map { Deadline(after: $0, option: nil) } ?? responseDeadline
            try flush(what, until: deadline)
            while PQisBusy(connection) == 1 {
                try wait(connection, events: POLLIN, until: deadline, what: what)
                guard PQconsumeInput(connection) == 1 else { throw lost(what) }
            }
        }

        func flush(_ what: String, until deadline: Deadline) throws(StoreError) {
            let connection = try open()
            while true {
                switch PQflush(connection) {
                case 0: return
                case 1:
                    // The server may accept more bytes only after its answers are read.
                    try wait(connection, events: POLLIN | POLLOUT, until: deadline, what: what)
                    guard PQconsumeInput(connection) == 1 else { throw lost(what) }
                default: throw lost(what)
                }
            }
        }

        /// Waits for notifications, and returns whether any came.
        ///
        /// - Throws: `ioFailure` if the connection is lost; `closed` if it was closed before.
        func waitForNotification(milliseconds: Int32) throws(StoreError) -> Bool {
            let connection = try open()
            let socket = PQsocket(connection)
            guard socket >= 0 else { throw lost("Listening to") }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let count = poll(&entry, 1, milliseconds)
            guard count >= 0 || errno == EINTR else { throw lost("Listening to") }
            guard count > 0 else { return false }
            guard PQconsumeInput(connection) == 1 else { throw lost("Listening to") }
            var hasCome = false
            while let notification = PQnotifies(connection) {
                PQfreemem(notification)
                hasCome = true
            }
            return hasCome
        }

        func wait(
            _ connection: OpaquePointer, events: Int32, until deadline: Deadline, what: String
        ) throws(StoreError) {
            let socket = PQsocket(connection)
            guard socket >= 0 else { throw lost(what) }
            while true {
                let left = ContinuousClock.now.duration(to: deadline.instant)
                guard left > .zero else {
                    // The state of the server is unknown, so the connection cannot be used again.
                    close()
                    let limit = deadline.option.map { "; the option \($0) is the limit" } ?? ""
                    throw StoreError(
                        .timedOut, "\(what) '\(name)' failed: the server did not answer in time\(limit).")
                }
                // Checks run every 50 ms.
                let slice = checks.isEmpty ? min(left, .seconds(60)) : min(left, .milliseconds(50))
                var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
                let milliseconds = Int32(
                    clamping: slice.components.seconds * 1000 + slice.components.attoseconds / 1_000_000_000_000_000 + 1
                )
                let count = poll(&entry, 1, milliseconds)
                if count > 0 { return }
                if count < 0, errno != EINTR { throw lost(what) }
                for check in checks {
                    do throws(StoreError) { try check() } catch {
                        cancel(connection)
                        throw error
                    }
                }
            }
        }

        func lost(_ what: String) -> StoreError {
            let text = handle.map { Self.line(PQerrorMessage($0)) } ?? "closed"
            return .postgreSQL(PostgreSQLError(state: "", text: text), what: what, name: name)
        }

        /// Returns the first line of a message of libpq.
        static func line(_ text: UnsafePointer<CChar>?) -> String {
            guard let text else { return "" }
            let whole = String(cString: text)
            return whole.split(separator: "\n").first.map(String.init) ?? ""
        }

        /// Refuses a statement that contains U+0000, because libpq would truncate it there.
        func requireText(_ sql: String) throws(StoreError) {
            guard !sql.utf8.contains(0) else {
                throw StoreError(.internalInconsistency, "A statement on '\(name)' has a character U+0000.")
            }
        }
    }
#endif
