internal import RoostCore
internal import RoostSQL

/// A table that says that some writer of a store does not flush the log at each commit
/// (`synchronous=normal`).
///
/// A power cut can then tear any transaction in the log, so that a frame with a wrong checksum
/// proves no damage. The table has no rows. It is made, and flushed, before the first such commit,
/// and dropped by the next writer that flushes each commit, has the store to itself and finds no
/// log.
enum UnflushedMark {
    static let table = "_roost_unflushed"
    /// The declaration as the catalog contains it.
    static let declaration = "CREATE TABLE _roost_unflushed (reason TEXT) STRICT"

    /// Makes the table, unless it is there, with a commit that is flushed whatever the connection's
    /// settings say.
    static func set(_ connection: SQLiteConnection, settings: SQLiteSettings) throws(StoreError) {
        try connection.execute("PRAGMA synchronous = FULL")
        try commit(declaration, whereSet: false, connection: connection)
        try connection.execute("PRAGMA synchronous = \(settings.synchronous.rawValue.uppercased())")
    }

    /// Drops the table if it is there.
    static func remove(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.allow(.dropping)
        try commit("DROP TABLE \(table)", whereSet: true, connection: connection)
        try connection.allow(.writing)
    }

    /// Makes a change, unless another writer has made it since the catalog was read.
    private static func commit(
        _ change: String, whereSet isExpected: Bool, connection: SQLiteConnection
    ) throws(StoreError) {
        try connection.run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            let isSet = try SQLiteSchemaCheck(connection).isUnflushed
            if isSet == isExpected { try connection.execute(change) }
            try connection.run("COMMIT")
        } catch {
            // Report the first error; closing the connection undoes the rest.
            try? connection.rollBack()
            throw error
        }
    }
}
