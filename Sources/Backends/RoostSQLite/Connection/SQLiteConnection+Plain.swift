package import RoostCore

extension SQLiteConnection {
    /// Opens a connection that may run all statements.
    ///
    /// If this connection is the last to be closed, closing it moves the write-ahead log into the
    /// file. This function is meant for databases that are not stores, as in the tests of the SQL
    /// engine.
    package static func plain(
        at path: String, isReadOnly: Bool, timeoutSeconds: Double
    ) throws(StoreError) -> SQLiteConnection {
        var options = StoreOptions()
        options.isReadOnly = isReadOnly
        options.timeoutSeconds = timeoutSeconds
        let connection = try SQLiteConnection(
            path, access: isReadOnly ? .readOnly : .readWrite, settings: try SQLiteSettings(options))
        try connection.allow(.everything)
        try connection.movesLogWhenClosed()
        return connection
    }
}
