package import RoostCore

// What the engine needs so that commits do not wait for each other, but for the rows that they
// share.
//
// A database has a number of *places*. A commit takes one that is free, and adds to the tallies of
// that place. So no row is written by all commits. What needs the store alone, as a load does,
// takes all places.

/// A dialect of a database in which several transactions write at once.
package protocol SQLParallelDialect: SQLDialect {
    /// The number of transactions that can write at once; more than one.
    var writerPlaceCount: Int { get }

    /// Whether tables get their indexes when they are made, and keep them.
    ///
    /// For a database that makes no index in a transaction that writes rows.
    var makesIndexesWithTables: Bool { get }

    /// The end of a SELECT from one table that locks the rows it finds until the transaction ends.
    ///
    /// The rows are read as they are when their locks are taken.
    func rowLock(_ lock: SQLRowLock) -> String

    /// The digits of the sum of integers, however many; null without values.
    ///
    /// A sum that fails beyond 64 bits would end the transaction.
    func digitsOfSum(_ column: String) -> String

    /// The sum of integers modulo 2⁶⁴, as a signed integer; null without rows.
    func wrappingSum(_ column: String) -> String

    /// INSERT of rows. Where the key of a row exists, its other columns get the sums modulo 2⁶⁴.
    ///
    /// These columns are integers.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - key: The columns of its key.
    ///   - columns: The other columns.
    ///   - rowCount: How many rows; each has parameters for `key` and then for `columns`.
    /// - Returns: The statement.
    func addingInsert(into table: String, key: [String], columns: [String], rowCount: Int) -> String
}

/// A lock on a row.
package enum SQLRowLock: Sendable {
    /// Keeps others from removing the row; to refer to an object.
    case existence
    /// Keeps others from changing and removing the row; to rely on the version of an object.
    case version
    /// Excludes itself and `version`; to change an object.
    case change
    /// Excludes every other lock; to remove an object.
    case removal
}

/// A database whose transactions write side by side.
package protocol SQLParallelDatabase: SQLDatabase {
    /// A connection in a transaction beside which others write.
    ///
    /// Each statement sees what others committed before it began. End it as one of
    /// ``SQLDatabase/beginWriting()``.
    ///
    /// - Returns: The connection, and the place that the transaction has.
    /// - Throws: `busy` when no place became free within the timeout.
    func beginWritingBesideOthers() throws(StoreError) -> (connection: any SQLConnection, place: SQLWriterPlace)

    /// Whether a transaction with this error failed by what others wrote at the same time.
    ///
    /// It can succeed when it is run again.
    func isTransient(_ error: StoreError) -> Bool
}

/// The place of a transaction that writes.
package struct SQLWriterPlace: Sendable {
    /// Place 0 of a transaction that has all places.
    static let all = SQLWriterPlace(number: 0, generationSum: nil)

    /// The number of the place, from 0.
    let number: Int
    /// The sum that made the generation when the transaction began; nil if it was not read.
    let generationSum: Int64?

    /// Makes a place.
    package init(number: Int, generationSum: Int64?) { (self.number, self.generationSum) = (number, generationSum) }
}

/// A connection to a server that can be asked several things at once, because each answer takes a
/// while.
package protocol SQLDeferringConnection: SQLConnection {
    /// Runs `body`, whose statements are sent without waiting for their results.
    ///
    /// They give no rows. Their errors come with a later statement, at last with the commit.
    func deferringRuns(_ body: () throws(StoreError) -> Void) throws(StoreError)
}

/// A write transaction of the engine.
struct SQLWriter {
    let connection: any SQLConnection
    /// The place that it has.
    var place = SQLWriterPlace.all
    /// The locks for rows; nil where no other transaction can write.
    var locks: (any SQLParallelDialect)?
    /// Whether it failed before by what others wrote.
    var isRepeated = false

    /// A SELECT from one table, whose rows are locked if others write.
    func locking(_ select: String, lock: SQLRowLock) -> String {
        locks.map { "\(select) \($0.rowLock(lock))" } ?? select
    }

    /// Runs `body`, which writes rows that are locked; its statements need not wait for their
    /// results.
    func writingLockedRows(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        guard locks != nil, let connection = connection as? any SQLDeferringConnection else { return try body() }
        try connection.deferringRuns(body)
    }
}
