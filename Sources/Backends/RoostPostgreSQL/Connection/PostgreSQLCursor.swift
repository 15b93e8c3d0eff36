#if PostgreSQL
    internal import CPostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// A SELECT that reads its rows from a cursor of the server, so that memory use is bounded.
    ///
    /// It works only in a transaction, whose end closes the cursor.
    final class PostgreSQLCursor: PostgreSQLStatement {
        /// The approximate maximum size of the rows of one FETCH, in bytes.
        private static let mostBytes = 512 << 10
        static let mostRows = 1024
        /// The maximum number of rows of the first FETCH, before any row's size is known.
        private static let firstRows = 4
        /// The maximum number of rows of the second FETCH.
        ///
        /// Each later FETCH requests at most twice as many rows as the previous one.
        private static let secondRows = 64
        /// The number of rows of a FETCH below which the next FETCH is not sent ahead.
        private static let fewestAhead = 256
        /// The wait for a FETCH above which the next FETCH is not sent ahead.
        ///
        /// A caller that stops reading must wait for rows that were requested ahead. So no rows are
        /// requested ahead if the previous rows came slowly.
        private static let quickReadLimit = Duration.milliseconds(20)

        private let sql: String
        private let mostRows: Int
        private let isBinary: Bool
        private var values: [SQLValue] = []
        /// The name of the open cursor; nil before it is opened and after its end.
        private var cursor: String?
        private var isAtEnd = false
        private var failure: StoreError?
        private var nextCount: Int
        /// The rows that were requested ahead, and their maximum number.
        private var ahead: (rows: PostgreSQLRowsAhead, count: Int)?

        /// Creates a cursor, which opens with the first step.
        ///
        /// One FETCH has at most `mostRows` rows. Unless `isBinary` is true, the values are texts.
        init(
            _ connection: PostgreSQLConnection, sql: String, mostRows: Int = PostgreSQLCursor.mostRows,
            isBinary: Bool = true
        ) {
            (self.sql, self.mostRows, self.isBinary) = (sql, max(1, mostRows), isBinary)
            nextCount = min(Self.firstRows, self.mostRows)
            super.init(connection, prepared: nil)
        }

        deinit { reset() }

        override func bind(_ value: SQLValue, at position: Int) throws(StoreError) {
            guard position > 0 else { throw StoreError(.internalInconsistency, "Parameters count from 1.") }
            while values.count < position { values.append(.null) }
            values[position - 1] = value
        }

        override func step() throws(StoreError) -> Bool {
            if let result, row + 1 < result.rowCount {
                row += 1
                return true
            }
            if let failure { throw failure }
            guard !isAtEnd else { return false }
            // The old rows are freed before the wait for new ones.
            (result, row) = (nil, -1)
            do throws(StoreError) { try fetch() } catch {
                // The error ended the transaction, or a rollback to a savepoint closed the cursor.
                (result, failure, cursor) = (nil, error, nil)
                throw error
            }
            guard let result, result.rowCount > 0 else { return false }
            row = 0
            return true
        }

        override func reset() {
            super.reset()
            if let cursor { connection.closeLater(cursor) }
            (cursor, isAtEnd, failure, nextCount, ahead) = (nil, false, nil, min(Self.firstRows, mostRows), nil)
        }

        private func fetch() throws(StoreError) {
            let (start, isFirst) = (ContinuousClock.now, cursor == nil)
            let (fetched, count): (PostgreSQLResult, Int)
            if let ahead {
                self.ahead = nil
                (fetched, count) = (try connection.take(ahead.rows, of: self.cursor), ahead.count)
            } else {
                (fetched, count) = (try request(nextCount), nextCount)
            }
            let isQuick = ContinuousClock.now - start < Self.quickReadLimit
            result = fetched
            isAtEnd = fetched.rowCount < count
            guard let cursor else { return }
            if isAtEnd {
                connection.closeLater(cursor)
                self.cursor = nil
            }
            let rowBytes = PQresultMemorySize(fetched.handle) / max(1, Int(fetched.rowCount))
            let largest = isFirst ? Self.secondRows : count * 2
            nextCount = max(1, min(largest, mostRows, Self.mostBytes / max(1, rowBytes)))
            if !isAtEnd, isQuick, count >= Self.fewestAhead {
                try connection.renewSavepoint(besides: cursor)
                ahead = (
                    try connection.fetchAhead(Self.fetch(nextCount, cursor: cursor), isBinary: isBinary), nextCount
                )
            }
        }

        /// Fetches rows, and opens the cursor first if it is not open.
        private func request(_ count: Int) throws(StoreError) -> PostgreSQLResult {
            try connection.renewSavepoint(besides: cursor)
            if let cursor {
                return try connection.run(
                    Self.fetch(count, cursor: cursor), parameters: PostgreSQLParameters(types: []), isBinary: isBinary)
            }
            var parameters = PostgreSQLParameters(types: [])
            for value in values { try parameters.append(value) }
            connection.lastNumber += 1
            let name = "roost_\(connection.lastNumber)"
            let rows = try connection.run(
                "DECLARE \(name) NO SCROLL CURSOR FOR \(sql)", parameters: parameters,
                then: Self.fetch(count, cursor: name), isBinary: isBinary)
            cursor = name
            connection.view?.newCursors.insert(name)
            return rows
        }

        private static func fetch(_ count: Int, cursor: String) -> String { "FETCH FORWARD \(count) FROM \(cursor)" }
    }
#endif
