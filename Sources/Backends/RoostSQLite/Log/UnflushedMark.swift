internal import RoostCore
internal import RoostSQL

/// The table that marks a store with a writer that does not flush the log at each commit
/// (`synchronous=normal`).
///
/// A power cut can then tear any transaction in the log, so a frame with a wrong checksum does not
/// prove damage. The table is flushed before the first unflushed commit. A later writer that
/// flushes each commit drops the table, if it is the only user and finds no log.
enum UnflushedMark {
    static let table = "_roost_unflushed"
    static let declaration = "CREATE TABLE _roost_unflushed (reason TEXT) STRICT"

    /// Creates the table if it does not exist, and flushes this commit.
    static func set(_ connection: SQLiteConnection, settings: SQLiteSettings) throws(StoreError) {
        try connection.execute("PRAGMA synchronous = FULL")
        try commit(declaration, whereSet: false, connection: connection)
        try connection.execute("PRAGMA synchronous = \(settings.synchronous.rawValue.uppercased())")
    }

    static func remove(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.allow(.dropping)
        try commit("DROP TABLE \(table)", whereSet: true, connection: connection)
        try connection.allow(.writing)
    }

    /// Makes a change, unless another writer has already made it.
    private static func commit(
        _ change: String, whereSet isExpected: Bool, connection: SQLiteConnection
    ) throws(StoreError) {
        try connection.run("BEGIN IMMEDIATE")
        do throws(StoreError) {
            let isSet = try SQLiteSchemaCheck(connection).isUnflushed
            if isSet == isExpected { try connection.execute(change) }
            try connection.run("COMMIT")
        } catch {
            // The first error is thrown. If this rollback fails, closing the connection rolls back.
            try? connection.rollBack()
            throw error
        }
    }
}
