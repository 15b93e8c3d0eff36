package import RoostCore

extension SQLiteConnection {
    /// Opens a connection that may run all statements, for a database that is not a store.
    ///
    /// If this connection is the last to be closed, the write-ahead log is then moved into the
    /// file.
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
