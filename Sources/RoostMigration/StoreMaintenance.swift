public import RoostCore
internal import RoostFiles

/// Backs stores up and compacts them, whatever their type.
///
/// It knows stores only by the contract of ``PersistentStoreType``; a type may add what it can do better while others have a
/// store open (``PersistentStoreType/compactWhileOpen(_:options:isCancelled:)``).
public struct StoreMaintenance: Sendable {
    /// The types of store that URLs may name.
    public let registry: StoreRegistry

    /// Makes an object that works on the store types of `registry`.
    public init(registry: StoreRegistry = .shared) { self.registry = registry }

    /// Copies a store into a new one of the same type, as it is at one commit, while others read and write it.
    ///
    /// The backup has the objects, links, versions, identity, user metadata and used keys of exactly one commit, the last one
    /// when the call begins. It is read again when it is complete and must have the digest that was computed while reading; only
    /// then it gets its name, atomically. After an error, a cancellation or a crash nothing is left of it, and a store that was
    /// to be replaced is as it was. Memory is bounded; see ``MigrationManager/convert(from:to:options:)``.
    ///
    /// - Parameters:
    ///   - source: The store; one that is open is not closed.
    ///   - destination: Where the backup goes.
    ///   - options: As for a conversion; the backup is verified and nothing is left out whatever they say.
    /// - Returns: What was copied.
    /// - Throws: `unsupported` for a type whose stores are not files, or cannot be written;
    ///   `invalidRequest` for a destination of another type and for the source itself;
    ///   `alreadyExists` without ``ConversionOptions/overwrites``; `corrupted` also for a source
    ///   that another program changed, without ``ConversionOptions/acceptsChanges``; `noSpace`,
    ///   `cancelled`, and whatever else a conversion throws. A backup that was to be replaced is
    ///   then as it was.
    public func backUp(
        _ source: ConversionEndpoint, to destination: StoreURL, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> ConversionReport {
        let type = try requireMaintained(source.url.type, "backed up")
        guard destination.type == type.name else {
            throw StoreError(
                .invalidRequest,
                "A backup of '\(source.url)' is of type '\(type.name)' too, not '\(destination.type)'; convert it for another type."
            )
        }
        var options = options
        (options.verifies, options.skipsDamaged) = (true, false)
        // What can be refused without opening the source, before it is opened.
        if case .url(let url) = source, StoreFile.sameFile(url.path, destination.path) {
            throw StoreError(.invalidRequest, "The backup '\(destination)' is the store itself; choose another path.")
        }
        switch source {
        case .store: return try copy(from: source, to: destination, options)
        case .url(let url):
            let store = try type.open(
                url,
                options: StoreOptions(
                    isReadOnly: true, model: options.sourceModel, timeoutSeconds: options.timeoutSeconds,
                    acceptsLinks: options.acceptsLinks, acceptsChanges: options.acceptsChanges,
                    typeOptions: options.sourceTypeOptions))
            let report: ConversionReport
            do throws(StoreError) {
                report = try copy(from: .store(store), to: destination, options)
            } catch {
                // The first error is the one to tell.
                try? store.close()
                throw error
            }
            try store.close()
            return report
        }
    }

    private func copy(
        from source: ConversionEndpoint, to destination: StoreURL, _ options: ConversionOptions
    ) throws(StoreError) -> ConversionReport {
        var report = try MigrationManager(registry: registry).convert(
            from: source, to: .url(destination), options: options)
        // A copy of a store has no model that its user does not know.
        report.remarks = []
        return report
    }

    /// Rewrites a store so that its file takes as little space as a new copy of it would.
    ///
    /// Where nobody else has the store open it is copied into a new file beside it; that one is verified by digest, gets the
    /// permissions and the owner of the old one, and takes its place atomically. Nobody can open the store meanwhile. Where
    /// somebody has it open, the type does it in place if it can; the content is compared afterwards. A crash at any instant
    /// leaves the store as it was or compacted. Identity, content, versions, metadata and used keys stay.
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - options: Timeout, model, options of the type, cancellation and progress are used.
    /// - Returns: What was done.
    /// - Throws: `busy` when the store is open elsewhere for longer than the timeout and its type
    ///   cannot be compacted then, or when a conversion into it is under way; `permissionDenied`,
    ///   also for the file of another user, who would lose it; `unsupported` for a type whose
    ///   stores are not files, or cannot be written, and for a file system without hard links;
    ///   `noSpace`; `corrupted`; `cancelled`. The store is as it was.
    public func compact(
        _ url: StoreURL, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> CompactionReport {
        let type = try requireMaintained(url.type, "compacted")
        return try StoreCompaction(url: url, type: type, options: options, registry: registry).run()
    }

    /// Makes what another program changed in a store its recorded content, in one transaction.
    ///
    /// ```swift
    /// let accepted = try StoreMaintenance().acceptExternalChanges(in: url) { changes in
    ///     changes.relationships.isEmpty
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The store.
    ///   - options: How to open it.
    ///   - isWanted: Receives the changes, if any, and returns whether to accept them.
    /// - Returns: The changes that were accepted, which are empty if there were none; nil if they
    ///   were not wanted.
    /// - Throws: `unsupported` for a type of store that other programs cannot change; `corrupted`
    ///   for content that no store of the type can hold, and for a damaged file; `conflict` if the
    ///   store changed meanwhile. The store is then as it was.
    public func acceptExternalChanges(
        in url: StoreURL, options: StoreOptions = StoreOptions(),
        if isWanted: (ExternalChanges) -> Bool = { _ in true }
    ) throws(StoreError) -> ExternalChanges? {
        let store = try registry.open(url, options: options)
        let accepted: ExternalChanges?
        do throws(StoreError) {
            let accepting = try Self.changeAccepting(store)
            let changes = try accepting.externalChanges()
            if changes.isEmpty {
                accepted = changes
            } else if isWanted(changes) {
                _ = try accepting.acceptExternalChanges(changes)
                accepted = changes
            } else {
                accepted = nil
            }
        } catch {
            throw StoreFiller.close(store, after: error)
        }
        try store.close()
        return accepted
    }

    /// The store as one that other programs can change.
    ///
    /// - Throws: `unsupported` for a store whose content only Roost can write.
    package static func changeAccepting(
        _ store: any PersistentStore
    ) throws(StoreError) -> any ChangeAcceptingStore {
        guard let accepting = store as? any ChangeAcceptingStore else {
            throw StoreError(
                .unsupported,
                "Changes by other programs cannot be accepted in stores of type '\(store.type.name)': what differs in '\(store.url.path)' is damage. Restore a backup, or convert it without its damaged objects (roost convert --skip-damaged)."
            )
        }
        return accepting
    }

    private func requireMaintained(_ name: String, _ what: String) throws(StoreError) -> any PersistentStoreType {
        let type = try registry.type(named: name)
        guard type.capabilities.contains(.file), type.capabilities.contains(.writing) else {
            throw StoreError(
                .unsupported, "Stores of type '\(name)' are no files that Roost writes, so they cannot be \(what).")
        }
        return type
    }
}
