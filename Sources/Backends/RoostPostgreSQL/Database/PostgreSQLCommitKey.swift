#if PostgreSQL
    internal import Foundation
    internal import RoostCore
    internal import RoostSQL

    /// A key that shows, after the server's answer was lost, whether a commit took place.
    ///
    /// Each commit inserts a new key in its transaction. If the answer is lost, the store inserts
    /// the same key in a second transaction, which waits for the end of the first. If the first was
    /// committed, the second finds the key. If not, the inserted key keeps the first from
    /// committing later.
    struct PostgreSQLCommitKey {
        static let table = "_roost_commits"
        static let creation =
            "CREATE TABLE \(table) (id UUID NOT NULL PRIMARY KEY, at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(), is_fence BOOLEAN NOT NULL DEFAULT FALSE)"
        /// The DELETE statement for keys that are older than a day.
        static let sweep = "DELETE FROM \(table) WHERE at < clock_timestamp() - interval '1 day'"

        /// The INSERT statement with the key as its parameter.
        private static let insertion = "INSERT INTO \(table) (id) VALUES ($1)"

        /// 16 random bytes in the form of a UUID.
        private let bytes: [UInt8]

        init() {
            var generator = SystemRandomNumberGenerator()
            var bytes: [UInt8] = []
            bytes.reserveCapacity(16)
            for number in [generator.next(), generator.next()] { PostgreSQLValueBytes.append(number, to: &bytes) }
            // Version 4 of RFC 9562.
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            self.bytes = bytes
        }

        var insertion: String { "INSERT INTO \(Self.table) (id) VALUES ('\(digits)')" }

        private var digits: String {
            bytes.map { (byte) -> String in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        }

        /// Inserts the key and commits, without waiting between the statements.
        ///
        /// The statement `fence` fails if the transaction must not be committed.
        ///
        /// - Throws: Errors of the database. Unless the connection was lost or timed out, nothing
        ///   was written.
        func commit(
            _ connection: PostgreSQLConnection, what: String, fencedBy fence: String? = nil
        ) throws(StoreError) {
            // Nothing is prepared in the first transaction, which may be the connection's only one.
            guard connection.transactionCount > 1 else {
                try connection.query(
                    [insertion, fence, "COMMIT"].compactMap(\.self).joined(separator: "; "), what: what)
                return
            }
            let statements = fence.map { [Self.insertion, $0, "COMMIT"] } ?? [Self.insertion, "COMMIT"]
            _ = try connection.run(together: statements, value: .blob(bytes), what: what)
        }

        private var condition: String { "id = '\(digits)'" }

        /// The INSERT statement of the second transaction.
        private var fence: String {
            "INSERT INTO \(Self.table) (id, is_fence) VALUES ('\(digits)', TRUE) ON CONFLICT DO NOTHING"
        }

        /// Finds out whether the commit took place, and throws if it did not.
        ///
        /// - Throws: `error` with a longer message and possibly another code, if nothing was
        ///   written; `outcomeUnknown` after the time limit of the settings.
        func resolve(
            after error: StoreError, location: PostgreSQLLocation, settings: PostgreSQLSettings
        ) throws(StoreError) {
            let deadline = ContinuousClock.now + .seconds(max(1, min(settings.timeoutSeconds, 1e9)))
            var last = error
            repeat {
                let isCommitted: Bool
                do throws(StoreError) { isCommitted = try ask(location, settings: settings) } catch {
                    last = error
                    Thread.sleep(forTimeInterval: 0.1)
                    continue
                }
                guard isCommitted else {
                    let isOfServer = error.underlying is PostgreSQLError || error.code == .timedOut
                    throw error.withMessage(
                        "\(error.message) Nothing was written.", code: isOfServer ? .ioFailure : error.code)
                }
                return
            } while ContinuousClock.now < deadline
            throw last.withMessage(
                "Cannot determine in time whether the last commit to '\(location.name)' took place. \(last.message) Read the objects again before you repeat the commit.",
                code: .outcomeUnknown)
        }

        /// Returns whether the commit took place; if not, keeps it from taking place later.
        private func ask(
            _ location: PostgreSQLLocation, settings: PostgreSQLSettings
        ) throws(StoreError) -> Bool {
            let connection = try PostgreSQLConnection(location, settings: settings)
            defer { connection.close() }
            try connection.query("SET lock_timeout = \(settings.lockTimeout)")
            // The column `is_fence` is false if the commit inserted the row, and otherwise true. In
            // the portable profile, this INSERT fails if it waited for the commit's row. Then the
            // caller repeats it.
            try connection.query(fence)
            let result = try connection.query("SELECT is_fence FROM \(Self.table) WHERE \(condition)")
            switch result.text(0, column: 0) {
            case "f": return true
            case "t": return false
            default: throw connection.lost("Finding the outcome of a commit to")
            }
        }
    }
#endif
