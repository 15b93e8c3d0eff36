#if PostgreSQL
    internal import RoostCore
    internal import RoostSQL

    /// A store as it was opened, told from other stores that get its name later.
    ///
    /// A conversion and a migration give the new store the UUID of the old one, so that does not
    /// do.
    struct PostgreSQLIncarnation: Sendable {
        /// The identity of the store.
        let uuid: StoreUUID
        /// The number that the system tables give the table of tallies; a renamed schema keeps it.
        let tableNumber: Int64
        /// The version of the format, which the history changes.
        let formatVersion: Int

        private static let columns =
            "sum, tableoid::bigint, (SELECT value FROM _roost_metadata WHERE name = 'formatVersion'), place"
        private static let rows = "FROM _roost_tallies WHERE kind = 'generation' AND number = 0"

        /// SELECT of the rows with which a transaction begins: one for each place of a writer.
        static let select = "SELECT \(columns) \(rows)"
        /// The same with the sum that makes the generation.
        static let selectWithSum = "SELECT \(columns), (\(sum)) \(rows)"
        /// SELECT of the sum alone.
        static let sum = "SELECT \(PostgreSQLDialect().wrappingSum("count")) \(rows)"

        /// UPDATE that changes nothing in the rows of all places, or of one, and gives them as
        /// ``select`` does.
        static func update(place: Int? = nil) -> String {
            let condition = place.map { " AND place = \($0)" } ?? ""
            return
                "UPDATE _roost_tallies SET count = count WHERE kind = 'generation' AND number = 0\(condition) RETURNING \(columns)"
        }

        /// The row of a database.
        struct Row {
            let mark: Int64
            let tableNumber: Int64
            let formatVersion: String
            let place: Int64
            /// The sum that makes the generation; nil if it was not asked for.
            var generationSum: Int64?

            /// Reads a result in text format; nil without a row.
            init?(text result: PostgreSQLResult) {
                guard let mark = result.text(0, column: 0).flatMap({ Int64($0) }),
                    let number = result.text(0, column: 1).flatMap({ Int64($0) }),
                    let version = result.text(0, column: 2),
                    let place = result.text(0, column: 3).flatMap({ Int64($0) })
                else { return nil }
                (self.mark, tableNumber, formatVersion, self.place) = (mark, number, version, place)
                generationSum = result.columnCount > 4 ? result.text(0, column: 4).flatMap { Int64($0) } : nil
            }

            /// Reads a result in binary format; nil without a row.
            init?(binary result: PostgreSQLResult) {
                guard result.rowCount >= 1, let mark = result.integer(0, column: 0),
                    let number = result.integer(0, column: 1),
                    let version = result.text(0, column: 2), let place = result.integer(0, column: 3)
                else { return nil }
                (self.mark, tableNumber, formatVersion, self.place) = (mark, number, version, place)
                generationSum = result.columnCount > 4 ? result.integer(0, column: 4) : nil
            }
        }

        /// Throws unless a transaction has the lock of this store and sees its tables.
        ///
        /// - Returns: The row.
        /// - Throws: `busy` without the lock; `storeReplaced` for another store, and for this one
        ///   if its history was turned on or off; `corrupted` without a row.
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
        /// The error of a transaction that finds other tables under the name of its store.
        static func postgreSQLStoreReplaced(_ name: String, underlying: StoreError? = nil) -> StoreError {
            StoreError(
                .storeReplaced,
                "Another store has the name '\(name)' now, or its history was turned on or off; close the store and open it again.",
                underlying: underlying)
        }
    }
#endif
