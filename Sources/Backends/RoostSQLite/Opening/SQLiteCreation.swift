internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// Writes the contents of new store files.
enum SQLiteCreation {
    /// Creates the tables of a store in an empty file without waiting for the disk.
    ///
    /// No companion file remains.
    static func writeEmptyStore(
        at path: String, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) {
        let settings = try SQLiteSettings(options)
        try options.historyRetention?.requireValid()
        let schema = try SQLSchema(
            model, dialect: SQLiteDialect(),
            formatVersion: options.tracksHistory == true ? SQLSchema.featureVersion : SQLSchema.formatVersion)
        let connection = try SQLiteDatabase.connect(path, settings: settings, access: .readWrite)
        do throws(StoreError) {
            let pageSize = settings.pageSizeBytes ?? 4096
            try fill(connection, pageSizeBytes: pageSize, formatVersion: schema.formatVersion) {
                (connection) throws(StoreError) in
                try SQLMetadata.create(
                    schema, uuid: options.storeUUID ?? StoreUUID(), userMetadata: options.userMetadata, on: connection)
            }
        } catch {
            try? connection.close()
            throw error
        }
        try connection.close()
        try SQLiteSettling.settle(path, settings: settings)
        guard !SQLiteSettling.needsRecovery(path) else {
            throw StoreError(.busy, "The new store '\(path)' is being opened by another program.")
        }
    }

    /// Sets the header fields of an empty database, and calls `tables` to create the tables.
    static func fill(
        _ connection: SQLiteConnection, pageSizeBytes: Int, formatVersion: Int,
        _ tables: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connection.execute("PRAGMA page_size = \(pageSizeBytes)")
        try connection.execute("PRAGMA encoding = 'UTF-8'")
        try connection.execute("PRAGMA auto_vacuum = NONE")
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(.unsupported, "'\(connection.path)' cannot have a write-ahead log on this file system.")
        }
        try connection.run("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id = \(SQLiteHeader.applicationID)")
        try connection.execute("PRAGMA user_version = \(formatVersion)")
        try tables(connection)
        try connection.run("COMMIT")
    }
}
