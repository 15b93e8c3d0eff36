package import RoostCore

extension SQLiteConnection {
    /// Opens a connection that may do everything, and whose closing moves the log into the file.
    ///
    /// For databases of other formats than a store's, as the tests of the SQL engine have.
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
