#if PostgreSQL
    internal import CPostgreSQL
    internal import Dispatch
    package import RoostCore
    internal import RoostSystem

    extension PostgreSQLConnection {
        /// Runs `body`, and calls `check` regularly while the statements of `body` run.
        ///
        /// If `check` throws, the running statement is cancelled and throws the same error.
        package func ending<Result>(
            when check: @escaping () throws(StoreError) -> Void, _ body: () throws(StoreError) -> Result
        ) throws(StoreError) -> Result {
            checks.append(check)
            defer { checks.removeLast() }
            return try body()
        }

        /// Adds a check as ``ending(when:_:)`` does, but never removes it.
        func endStatements(when check: @escaping () throws(StoreError) -> Void) { checks.append(check) }

        /// Runs `body` without the checks, so that its statements run to their end.
        func withoutChecks<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
            let held = checks
            checks = []
            defer { checks = held }
            return try body()
        }

        /// Whether a statement of a snapshot can be cancelled.
        var canBeCancelled: Bool { !checks.isEmpty && Self.isInTask }

        static var isInTask: Bool { withUnsafeCurrentTask { $0 != nil } }

        /// Asks the server to cancel the running statement, and waits until that statement ends.
        ///
        /// The transaction of a snapshot then returns to its savepoint. A failure closes the
        /// connection.
        func cancel(_ connection: OpaquePointer) {
            guard let request = PQgetCancel(connection) else { return close() }
            let isSent = send(request)
            // If several writes are pending, the connection does not know which of them was
            // cancelled.
            guard isSent, deferredCount == 0 || view != nil else { return close() }
            isCancelling = true
            defer { isCancelling = false }
            do throws(StoreError) {
                try withoutChecks { () throws(StoreError) -> Void in
                    guard try readEnd("Cancelling a statement on") else { return close() }
                    try returnToSavepoint()
                }
            } catch {
                close()
            }
        }

        /// Reads the results of the cancelled statement, and of the statements in its pipeline.
        ///
        /// Returns false if the statement is a COPY that still waits for rows.
        private func readEnd(_ what: String) throws(StoreError) -> Bool {
            guard deferredCount == 0 else {
                _ = try endPipeline(what)
                return true
            }
            while let result = try next(what) {
                guard result.status != PGRES_COPY_IN else { return false }
            }
            return true
        }

        /// Sends a cancel request over a separate connection, and frees the request.
        ///
        /// `PQcancel` waits for the server without a time limit. So a separate thread calls it, and
        /// this method waits for that thread only until the connection timeout.
        ///
        /// Returns whether the request was sent in time.
        private func send(_ request: OpaquePointer) -> Bool {
            // Proof: only the new thread uses the request; see
            // <https://www.postgresql.org/docs/15/libpq-cancel.html>.
            nonisolated(unsafe) let request = request
            let (isSent, isDone) = (Mutex(false), DispatchSemaphore(value: 0))
            do throws(SystemFailure) {
                try SystemThread.start("roost cancel", stackByteCount: 1 << 20) {
                    var reason = [CChar](repeating: 0, count: 256)
                    let code = PQcancel(request, &reason, Int32(reason.count))
                    PQfreeCancel(request)
                    isSent.withLock { $0 = code == 1 }
                    isDone.signal()
                }
            } catch {
                PQfreeCancel(request)
                return false
            }
            let parts = settings.connectTimeout.components
            let milliseconds = parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
            guard isDone.wait(timeout: .now() + .milliseconds(Int(clamping: milliseconds))) == .success else {
                return false
            }
            return isSent.withLock { $0 }
        }
    }
#endif
