package import RoostCore

// Interfaces for concurrent commits.
//
// A database has several *writer places*. Each place has its own rows of counters (tallies). A
// commit takes a free place and updates only the counters of this place, so no row is written by
// all commits. Commits wait for each other only if they share rows or if no place is free. A
// transaction that needs exclusive access, such as a load, takes all places.

/// A dialect of a database in which several transactions can write at once.
package protocol SQLParallelDialect: SQLDialect {
    /// The number of transactions that can write at once, which is more than one.
    var writerPlaceCount: Int { get }

    /// Whether indexes are created together with their tables and are never dropped for a load.
    ///
    /// It is true if the database cannot create an index in a transaction that writes rows.
    var makesIndexesWithTables: Bool { get }

    /// Returns the clause that makes a SELECT from one table lock its rows until the transaction
    /// ends.
    ///
    /// The rows are read in their state after locking. A dialect whose transactions are
    /// serializable may return an empty text instead.
    func rowLock(_ lock: SQLRowLock) -> String

    /// Returns SQL for the sum of integers as decimal text of any length; null without values.
    ///
    /// The sum must not overflow, because an error would end the transaction.
    func digitsOfSum(_ column: String) -> String

    /// Returns the sum of integers modulo 2⁶⁴ as a signed integer; null without rows.
    func wrappingSum(_ column: String) -> String

    /// Returns an INSERT of rows.
    ///
    /// If a row has the key, the statement instead adds the values to its other columns, which are
    /// integers, modulo 2⁶⁴.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The columns of the table's key.
    ///   - columns: The other columns.
    ///   - rowCount: The number of rows. Each row has parameters for `key`, then for `columns`.
    /// - Returns: The statement.
    func addingInsert(into table: String, key: [String], columns: [String], rowCount: Int) -> String
}

/// A lock on a row.
package enum SQLRowLock: Sendable {
    /// Prevents other transactions from removing the row.
    ///
    /// Used to refer to an object.
    case existence
    /// Prevents other transactions from changing and removing the row.
    ///
    /// Used to rely on an object's version.
    case version
    /// Excludes `change`, `version` and `removal`.
    ///
    /// Used to change an object.
    case change
    /// Excludes all locks.
    ///
    /// Used to remove an object.
    case removal
}

/// A database in which several transactions can write at once.
package protocol SQLParallelDatabase: SQLDatabase {
    /// Returns a connection in a transaction during which other transactions may write.
    ///
    /// Each statement sees all commits before its start. End the transaction with
    /// ``SQLDatabase/commitWriting(_:)`` or ``SQLDatabase/rollBackWriting(_:)``.
    ///
    /// - Returns: The connection, and the writer place of the transaction.
    /// - Throws: `busy` if no place became free within the timeout.
    func beginWritingBesideOthers() throws(StoreError) -> (connection: any SQLConnection, place: SQLWriterPlace)

    /// Returns whether a transaction failed with this error because of concurrent writes.
    ///
    /// Such a transaction can succeed on a retry.
    func isTransient(_ error: StoreError) -> Bool
}

/// The writer place of a transaction.
package struct SQLWriterPlace: Sendable {
    /// Place 0, for a transaction that holds all places.
    static let all = SQLWriterPlace(number: 0, generationSum: nil)

    /// The number of the place, from 0.
    let number: Int
    /// The sum that formed the generation when the transaction began; nil if it was not read.
    let generationSum: Int64?

    /// Creates a place.
    package init(number: Int, generationSum: Int64?) { (self.number, self.generationSum) = (number, generationSum) }
}

/// A connection that can send several statements before it reads their results.
package protocol SQLDeferringConnection: SQLConnection {
    /// Runs `body` without waiting for the results of its statements.
    ///
    /// These statements return no rows. Their errors are thrown by a later statement, at the latest
    /// by the commit.
    func deferringRuns(_ body: () throws(StoreError) -> Void) throws(StoreError)
}

/// A write transaction of the engine.
struct SQLWriter {
    let connection: any SQLConnection
    /// The writer place of the transaction.
    var place = SQLWriterPlace.all
    /// The dialect of row locks; nil if no other transaction can write.
    var locks: (any SQLParallelDialect)?
    /// Whether an earlier attempt failed because of concurrent writes.
    var isRepeated = false

    /// Returns a SELECT from one table with a lock on its rows, if other transactions can write.
    func locking(_ select: String, lock: SQLRowLock) -> String {
        locks.map { "\(select) \($0.rowLock(lock))" } ?? select
    }

    /// Runs `body`, which writes only rows that the transaction has locked.
    ///
    /// If possible, does not wait for the results of the statements.
    func writingLockedRows(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard locks != nil, let connection = connection as? any SQLDeferringConnection else { return try body() }
        try connection.deferringRuns(body)
    }
}
