#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// The identity of an opened store.
    ///
    /// A later store with this name has another identity, but may have the same UUID, because a
    /// conversion or migration keeps the UUID.
    struct PostgreSQLIncarnation: Sendable {
        let uuid: StoreUUID
        /// The OID of the table of tallies, which does not change when the schema is renamed.
        let tableNumber: Int64
        /// The format version, which changes when the history is turned on or off.
        let formatVersion: Int

        private static let columns =
            "sum, tableoid::bigint, (SELECT value FROM _roost_metadata WHERE name = 'formatVersion'), place"
        private static let rows = "FROM _roost_tallies WHERE kind = 'generation' AND number = 0"

        /// The SELECT statement of the rows that a transaction reads first.
        static let select = "SELECT \(columns) \(rows)"
        static let selectAny = "\(select) LIMIT 1"
        /// The SELECT statement of the sum that forms the generation; the sum is NUMERIC.
        static let sum = "SELECT SUM(count) \(rows)"

        static let tableNumber = "SELECT '_roost_tallies'::regclass::oid::bigint"

        /// Returns the SELECT statement that locks the row of the first free place from `place` on.
        ///
        /// The last column of the result is the value of ``sum``.
        static func selectFree(from place: Int = 0) -> String {
            "SELECT \(columns), (\(sum)) \(rows) AND place >= \(place) ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED"
        }

        /// Returns an UPDATE of the row of one place, or of each place, that changes no value.
        ///
        /// Its result has the columns of ``select``.
        static func update(place: Int? = nil) -> String {
            let condition = place.map { " AND place = \($0)" } ?? ""
            return
                "UPDATE _roost_tallies SET count = count WHERE kind = 'generation' AND number = 0\(condition) RETURNING \(columns)"
        }

        /// The row that a transaction reads first.
        struct Row {
            let mark: Int64
            let tableNumber: Int64
            let formatVersion: String
            let place: Int64
            /// The sum that forms the generation, modulo 2⁶⁴; nil if it was not requested.
            var generationSum: Int64?

            /// Reads the first row in text format; nil if it is missing or incomplete.
            init?(text result: PostgreSQLResult) {
                guard let mark = result.text(0, column: 0).flatMap({ Int64($0) }),
                    let number = result.text(0, column: 1).flatMap({ Int64($0) }),
                    let version = result.text(0, column: 2),
                    let place = result.text(0, column: 3).flatMap({ Int64($0) })
                else { return nil }
                (self.mark, tableNumber, formatVersion, self.place) = (mark, number, version, place)
                generationSum = result.text(0, column: 4).flatMap { PostgreSQLSum.wrapping(text: $0) }
            }

            /// Reads the first row in binary format; nil if it is missing or incomplete.
            init?(binary result: PostgreSQLResult) {
                guard result.rowCount >= 1, let mark = result.integer(0, column: 0),
                    let number = result.integer(0, column: 1),
                    let version = result.text(0, column: 2), let place = result.integer(0, column: 3)
                else { return nil }
                (self.mark, tableNumber, formatVersion, self.place) = (mark, number, version, place)
                generationSum = result.sum(0, column: 4)
            }
        }

        /// Returns `row` if a transaction has the lock of this store and uses its tables.
        ///
        /// - Throws: `busy` without the lock; `storeReplaced` if the row belongs to another store,
        ///   or if the history was turned on or off; `corrupted` without a row.
        func require(_ row: Row?, isLocked: Bool, name: String) throws(StoreError) -> Row {
            guard isLocked else {
                throw StoreError(
                    .busy, "'\(name)' is being removed, replaced or changed by another program; try again.")
            }
            guard let row else {
                throw StoreError(
                    .corrupted, "'\(name)' is damaged: its generation is missing. Restore it from a backup.")
            }
            guard row.mark == SQLTallies.mark(of: uuid), row.tableNumber == tableNumber,
                row.formatVersion == String(formatVersion)
            else {
                throw .postgreSQLStoreReplaced(name)
            }
            return row
        }
    }

    extension StoreError {
        static func postgreSQLStoreReplaced(_ name: String, underlying: StoreError? = nil) -> StoreError {
            StoreError(
                .storeReplaced,
                "'\(name)' was replaced by another store, or the history of this store was turned on or off. Close the store and open it again.",
                underlying: underlying)
        }
    }
#endif
