public import RoostCore
internal import RoostFiles
public import RoostMigration

extension StoreMaintenance {
    /// Copies a store's state at one commit to a new store of the same type.
    ///
    /// Other processes may read and write the store during the backup. The backup has the objects,
    /// links, versions, identity, user metadata and last used keys of exactly one commit: the last
    /// commit before the copy begins. The finished backup is read again, must have the digest of
    /// what was read from the source, and is then published atomically. An error, a cancellation or
    /// a crash leaves no backup, and an existing store at the destination is unchanged. Memory is
    /// bounded; see ``MigrationManager/convert(from:to:options:)``.
    ///
    /// - Parameters:
    ///   - source: The store. If it is already open, it stays open.
    ///   - destination: The location of the backup.
    ///   - options: The options of a conversion. The backup is always verified and complete.
    /// - Returns: A report of the copy.
    /// - Throws: `unsupported` for a type whose stores are not files or cannot be written;
    ///   `invalidRequest` for a destination of another type and for the source itself;
    ///   `alreadyExists` without ``ConversionOptions/overwrites``; `corrupted` for damage and,
    ///   without ``ConversionOptions/acceptsChanges``, for a source that another program changed;
    ///   `noSpace`, `cancelled`, and the other errors of a conversion.
    public func backUp(
        _ source: ConversionEndpoint, to destination: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        let type = try requireMaintained(source.location.type, what: "backed up")
        guard destination.type == type.name else {
            throw StoreError(
                .invalidRequest,
                "Cannot back up '\(source.location)' to a store of type '\(destination.type)': a backup has the type of its store, '\(type.name)'. Convert the store instead."
            )
        }
        var options = options
        (options.verifies, options.skipsDamaged, options.keepsHistory) = (true, false, true)
        // This check does not need to open the source, so it comes first.
        if case .location(let location) = source, StoreFile.sameFile(location.path, destination.path) {
            throw StoreError(.invalidRequest, "The backup '\(destination)' is the store itself; choose another path.")
        }
        switch source {
        case .store: return try copy(from: source, to: destination, options: options)
        case .location(let location):
            let store = try type.open(
                location,
                options: StoreOptions(
                    isReadOnly: true, model: options.sourceModel, timeoutSeconds: options.timeoutSeconds,
                    typeOptions: options.sourceTypeOptions
                ).with {
                    $0.acceptsLinks = options.acceptsLinks
                    $0.acceptsChanges = options.acceptsChanges
                })
            return try store.closing { () throws(StoreError) in
                try copy(from: .store(store), to: destination, options: options)
            }
        }
    }

    private func copy(
        from source: ConversionEndpoint, to destination: StoreLocation, options: ConversionOptions
    ) throws(StoreError) -> ConversionReport {
        var report = try MigrationManager(registry: registry).convert(
            from: source, to: .location(destination), options: options)
        // Remarks about the model are omitted, because the backup has the same model as its source.
        report.remarks = []
        return report
    }
}
