public import RoostCore
internal import RoostFiles
public import RoostMigration

extension StoreMaintenance {
    /// Copies a store, as it is at one commit, into a new one of the same type.
    ///
    /// Others may read and write the store meanwhile. The backup has the objects, links, versions,
    /// identity, user metadata and used keys of exactly one commit, the last one when the call
    /// begins. It is read again when it is complete and must have the digest that was computed
    /// while reading. Only then it gets its name, atomically. After an error, a cancellation or a
    /// crash nothing of it is left, and a store that was to be replaced is unchanged. Memory is
    /// bounded; see ``MigrationManager/convert(from:to:options:)``.
    ///
    /// - Parameters:
    ///   - source: The store; one that is open is not closed.
    ///   - destination: Where the backup goes.
    ///   - options: As for a conversion. The backup is always verified and complete.
    /// - Returns: What was copied.
    /// - Throws: `unsupported` for a type whose stores are not files, or cannot be written;
    ///   `invalidRequest` for a destination of another type and for the source itself;
    ///   `alreadyExists` without ``ConversionOptions/overwrites``; `corrupted` also for a source
    ///   that another program changed, without ``ConversionOptions/acceptsChanges``; `noSpace`,
    ///   `cancelled`, and whatever else a conversion throws. A backup that was to be replaced is
    ///   then as it was.
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
        // What can be refused without opening the source, before it is opened.
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
        // A copy of a store has no model that its user does not know.
        report.remarks = []
        return report
    }
}
