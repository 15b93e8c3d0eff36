#if PostgreSQL
    internal import CPostgreSQL
    package import RoostCore
    internal import RoostSQL

    // Messages whose answers are read later. Only one kind can be pending at a time: a FETCH sent
    // ahead, a COPY, or statements in libpq's pipeline mode. See
    // <https://www.postgresql.org/docs/15/libpq-pipeline-mode.html>.

    extension PostgreSQLConnection: SQLDeferringConnection {
        private static let mostDeferred = 64
        private static let what = "A statement on"

        /// Whether an answer is pending.
        var isWorking: Bool { ahead != nil || openCopy != nil || deferredCount > 0 }

        /// Waits for all pending answers, and throws the first error of an answer.
        func settle() throws(StoreError) {
            try collectAhead()
            try endCopy()
            if deferredCount > 0 { _ = try finishDeferred() }
        }

        /// Ends pending work in a transaction that the caller will roll back.
        func abandonWork() {
            _ = try? collectAhead()
            abandonCopy()
            if deferredCount > 0 { _ = try? finishDeferred() }
        }

        // MARK: Statements in a pipeline

        package func deferringRuns(_ body: () throws(StoreError) -> Void) throws(StoreError) {
            isDeferring = true
            defer { isDeferring = false }
            try body()
        }

        /// Sends a statement without waiting for its result.
        func runLater(
            _ statement: PostgreSQLPrepared, parameters: PostgreSQLParameters
        ) throws(StoreError) {
            try collectAhead()
            try endCopy()
            if deferredCount >= Self.mostDeferred { _ = try finishDeferred() }
            let connection = try open()
            if deferredCount == 0 {
                guard PQenterPipelineMode(connection) == 1 else { throw lost(Self.what) }
            }
            deferredCount += 1
            let isSent = parameters.withPointers {
                Self.send(statement, on: connection, count: $0, values: $1, lengths: $2, formats: $3)
            }
            guard isSent == 1 else { throw lost(Self.what) }
        }

        /// Sends a prepared statement, and requests binary results; returns 0 after an error.
        static func send(
            _ statement: PostgreSQLPrepared, on connection: OpaquePointer, count: Int32,
            values: UnsafePointer<UnsafePointer<CChar>?>?, lengths: UnsafePointer<Int32>?,
            formats: UnsafePointer<Int32>?
        ) -> Int32 {
            statement.nameBytes.withUnsafeBufferPointer {
                PQsendQueryPrepared(connection, $0.baseAddress, count, values, lengths, formats, 1)
            }
        }

        /// Runs statements in order with one message, until a statement fails.
        ///
        /// Deferred statements run first, and their pending results come first in the array. The
        /// statements stay prepared. Only the first can have a parameter: `value`.
        func run(
            together statements: [String], value: SQLValue? = nil, what: String
        ) throws(StoreError) -> [PostgreSQLResult] {
            try collectAhead()
            try endCopy()
            // Preparing waits for answers, so all statements are prepared before the first is sent.
            var ready: [PostgreSQLPrepared] = []
            for sql in statements { ready.append(try prepare(sql)) }
            var first = value
            for prepared in ready {
                var parameters = PostgreSQLParameters(types: prepared.parameterTypes)
                if let value = first.take() { try parameters.set(value, at: 0) }
                try runLater(prepared, parameters: parameters)
            }
            return try finishDeferred(what)
        }

        /// Runs two unprepared statements with one message, and returns the result of the second.
        ///
        /// `parameters` belong to the first. If `isBinary` is false, the result contains texts.
        func run(
            _ first: String, parameters: PostgreSQLParameters, then second: String, isBinary: Bool
        ) throws(StoreError) -> PostgreSQLResult {
            try settle()
            let connection = try open()
            guard PQenterPipelineMode(connection) == 1 else { throw lost(Self.what) }
            deferredCount = 2
            let isSent = parameters.withPointers {
                PQsendQueryParams(connection, first, $0, parameters.types, $1, $2, $3, 1)
            }
            guard isSent == 1,
                PQsendQueryParams(connection, second, 0, nil, nil, nil, nil, isBinary ? 1 : 0) == 1,
                let last = try finishDeferred().last
            else { throw lost(Self.what) }
            return last
        }

        /// Waits for the results of the statements in the pipeline, and throws their first error.
        ///
        /// An error ends the transaction.
        private func finishDeferred(_ what: String = what) throws(StoreError) -> [PostgreSQLResult] {
            let connection = try open()
            defer { deferredCount = 0 }
            guard PQpipelineSync(connection) == 1 else { throw lost(what) }
            let results = try endPipeline(what)
            for result in results {
                if let error = result.error { throw StoreError.postgreSQL(error, what: what, name: name) }
            }
            return results
        }

        /// Waits for the results of the statements in the pipeline, and leaves the pipeline mode.
        ///
        /// `PQpipelineSync` must have been called. The results can include errors.
        func endPipeline(_ what: String) throws(StoreError) -> [PostgreSQLResult] {
            let connection = try open()
            var results: [PostgreSQLResult] = []
            // For each statement, `next` returns a result and then nil. The last result is that of
            // `PQpipelineSync`.
            var endCount = 0
            while true {
                guard let result = try next(what) else {
                    endCount += 1
                    guard endCount <= deferredCount else { throw lost(what) }
                    continue
                }
                if result.status == PGRES_PIPELINE_SYNC { break }
                results.append(result)
            }
            guard PQexitPipelineMode(connection) == 1 else { throw lost(what) }
            deferredCount = 0
            return results
        }

        // MARK: Rows ahead

        /// Sends a FETCH; ``take(_:of:)`` returns its rows.
        func fetchAhead(_ sql: String, isBinary: Bool = true) throws(StoreError) -> PostgreSQLRowsAhead {
            try settle()
            let connection = try open()
            guard PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, isBinary ? 1 : 0) == 1 else {
                throw lost(Self.what)
            }
            let rows = PostgreSQLRowsAhead()
            ahead = rows
            return rows
        }

        /// Waits for the rows of an earlier ``fetchAhead(_:isBinary:)`` from a cursor.
        ///
        /// Checks can end the wait, unless the cancellation would end the view or other cursors.
        func take(_ rows: PostgreSQLRowsAhead, of cursor: String?) throws(StoreError) -> PostgreSQLResult {
            if rows === ahead { try collectAhead(isCancellable: !needsSavepoint(besides: cursor)) }
            guard let outcome = rows.outcome.take() else {
                throw StoreError(.internalInconsistency, "Rows of '\(name)' were taken twice; please report this.")
            }
            return try outcome.get()
        }

        /// Waits for the rows of the FETCH that was sent ahead, if any, and throws its error.
        ///
        /// Checks can cancel the FETCH only if `isCancellable` is true. If the caller only wants to
        /// send a statement, its checks must not cancel the FETCH of another cursor.
        private func collectAhead(isCancellable: Bool = false) throws(StoreError) {
            guard let rows = ahead else { return }
            ahead = nil
            do throws(StoreError) {
                if isCancellable {
                    rows.outcome = .success(try finish(Self.what))
                } else {
                    rows.outcome = .success(
                        try withoutChecks { () throws(StoreError) in try finish(Self.what) })
                }
            } catch {
                rows.outcome = .failure(error)
                throw error
            }
        }
    }

    /// The rows of a FETCH, which may not have arrived yet.
    final class PostgreSQLRowsAhead {
        /// The rows or the error; nil before the answer is read and after the rows are taken.
        var outcome: Result<PostgreSQLResult, StoreError>?
    }
#endif
