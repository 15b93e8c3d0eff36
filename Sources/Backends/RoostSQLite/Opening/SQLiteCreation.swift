internal import RoostCore
internal import RoostFiles
internal import RoostSQL

/// Makes new stores: beside their name, then under it.
enum SQLiteCreation {
    /// Creates an empty store at `path`, which nobody else may be creating: the caller holds the lock exclusively.
    ///
    /// It is complete and on the disk when it gets its name. One that stays unpublished has no other name to hide behind, and is
    /// not flushed: whoever publishes it does that.
    static func create(
        at path: String, _ model: ManagedObjectModel, _ options: StoreOptions, _ settings: SQLiteSettings
    ) throws(StoreError) {
        let schema = try SQLSchema(model, dialect: SQLiteDialect())
        // What a store that is gone left here would be taken for the new one's; what may be more than that is refused.
        try StoreFile.removeLeftovers(of: path, suffixes: SQLiteSettling.companions)
        guard !settings.isUnpublished else {
            // Before what is undone: a file that somebody else put there meanwhile must stay.
            try StoreFile.createExclusive(at: path)
            do throws(StoreError) { return try make(at: path, schema, options, settings) } catch {
                for suffix in SQLiteSettling.companions + [""] { try? StoreFile.remove(path + suffix) }
                throw error
            }
        }
        var unflushed = settings
        unflushed.isUnpublished = true
        try StoreFile.build(
            path, companions: SQLiteSettling.companions, lock: .exclusive
        ) { (temporary) throws(StoreError) in
            try StoreFile.createExclusive(at: temporary)
            try make(at: temporary, schema, options, unflushed)
            try StoreFile.syncFile(at: temporary)
        }
    }

    /// Makes the tables of a store in an empty file, with nothing beside it and without waiting for the disk.
    private static func make(
        at path: String, _ schema: SQLSchema, _ options: StoreOptions, _ settings: SQLiteSettings
    ) throws(StoreError) {
        let connection = try SQLiteDatabase.connect(path, settings, .readWrite)
        do throws(StoreError) {
            let pageSize = settings.pageSizeBytes ?? 4096
            try fill(connection, pageSizeBytes: pageSize) { (connection) throws(StoreError) in
                try SQLMetadata.create(
                    schema, uuid: options.storeUUID ?? StoreUUID(), userMetadata: options.userMetadata, on: connection)
            }
        } catch {
            try? connection.close()
            throw error
        }
        try connection.close()
        // What the fill wrote went through the log; this moves it and removes the log.
        try SQLiteSettling.settle(path, settings)
        guard !SQLiteSettling.needsRecovery(path) else {
            throw StoreError(.busy, "The new store '\(path)' is being opened by another program.")
        }
    }

    /// Gives an empty database its header fields and its tables.
    static func fill(
        _ connection: SQLiteConnection, pageSizeBytes: Int, _ tables: (any SQLConnection) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connection.execute("PRAGMA page_size = \(pageSizeBytes)")
        try connection.execute("PRAGMA encoding = 'UTF-8'")
        try connection.execute("PRAGMA auto_vacuum = NONE")
        guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(.unsupported, "'\(connection.path)' cannot have a write-ahead log on this file system.")
        }
        try connection.run("BEGIN IMMEDIATE")
        try connection.execute("PRAGMA application_id = \(SQLiteHeader.applicationID)")
        try connection.execute("PRAGMA user_version = \(SQLSchema.formatVersion)")
        try tables(connection)
        try connection.run("COMMIT")
    }
}
