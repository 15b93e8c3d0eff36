package import RoostCore

// Interfaces for concurrent commits.
//
// A database has several *writer places*. Each place has its own rows of tallies. A commit takes a free place and
// updates only the tallies of this place. So commits wait for each other only if they share rows or if no place is
// free. A transaction that needs exclusive access, such as a load, takes all places.

/// A dialect of a database in which several transactions can write at once.
package protocol SQLParallelDialect: SQLDialect {
    /// The number of transactions that can write at once; more than one.
    var writerPlaceCount: Int { get }

    /// Whether indexes are created with their tables and never dropped for a load.
    ///
    /// True if the database cannot create an index in a transaction that writes rows.
    var makesIndexesWithTables: Bool { get }

    /// Returns the clause of a SELECT that locks its rows until the transaction ends.
    ///
    /// Rows are read in their state after locking. A dialect whose transactions are serializable
    /// may return an empty text.
    func rowLock(_ lock: SQLRowLock) -> String

    /// Returns SQL for the sum of integers as decimal text of any length; null without values.
    ///
    /// The sum must not overflow, because an error would end the transaction.
    func digitsOfSum(_ column: String) -> String

    /// Returns the sum of integers modulo 2⁶⁴ as a signed integer; null without rows.
    func wrappingSum(_ column: String) -> String

    /// Returns an INSERT of rows, with parameters for `key` and then `columns` in each row.
    ///
    /// If a row has the key, the statement adds the values to its `columns`, modulo 2⁶⁴.
    func addingInsert(into table: String, key: [String], columns: [String], rowCount: Int) -> String
}

package enum SQLRowLock: Sendable {
    /// Prevents other transactions from removing the row; used to refer to an object.
    case existence
    /// Prevents other transactions from changing and removing the row; used to rely on a version.
    case version
    /// Excludes `change`, `version` and `removal`; used to change an object.
    case change
    /// Excludes all locks; used to remove an object.
    case removal
}

/// A database in which several transactions can write at once.
package protocol SQLParallelDatabase: SQLDatabase {
    /// Returns a connection in a transaction during which other transactions may write.
    ///
    /// Each statement sees all commits before its start. End the transaction with
    /// ``SQLDatabase/commitWriting(_:)`` or ``SQLDatabase/rollBackWriting(_:)``.
    ///
    /// - Throws: `busy` if no place became free within the timeout.
    func beginWritingBesideOthers() throws(StoreError) -> (connection: any SQLConnection, place: SQLWriterPlace)

    /// Returns whether concurrent writes caused the error, so that the transaction can be retried.
    func isTransient(_ error: StoreError) -> Bool
}

/// The writer place of a transaction.
package struct SQLWriterPlace: Sendable {
    /// Place 0, for a transaction that holds all places.
    static let all = SQLWriterPlace(number: 0, generationSum: nil)

    /// The number of the place, from 0.
    let number: Int
    /// The sum that formed the generation when the transaction began; nil if not read.
    let generationSum: Int64?

    package init(number: Int, generationSum: Int64?) { (self.number, self.generationSum) = (number, generationSum) }
}

/// A connection that can send several statements before it reads their results.
package protocol SQLDeferringConnection: SQLConnection {
    /// Runs `body` without waiting for the results of its statements.
    ///
    /// These statements return no rows. A later statement, at the latest the commit, throws their
    /// errors.
    func deferringRuns(_ body: () throws(StoreError) -> Void) throws(StoreError)
}

struct SQLWriter {
    let connection: any SQLConnection
    var place = SQLWriterPlace.all
    /// The dialect of row locks; nil if no other transaction can write.
    var locks: (any SQLParallelDialect)?
    /// Whether an earlier attempt failed because of concurrent writes.
    var isRepeated = false

    /// Adds a lock of the rows to a SELECT from one table, if other transactions can write.
    func locking(_ select: String, lock: SQLRowLock) -> String {
        locks.map { "\(select) \($0.rowLock(lock))" } ?? select
    }

    /// Runs `body`, if possible without waiting for its statements.
    ///
    /// `body` must write only rows that the transaction has locked.
    func writingLockedRows(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard locks != nil, let connection = connection as? any SQLDeferringConnection else { return try body() }
        try connection.deferringRuns(body)
    }
}
