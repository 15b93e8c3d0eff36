public import RoostCore
internal import RoostFiles
public import RoostMigration

/// Backups and compaction of stores of any type.
///
/// It uses the contract of ``PersistentStoreType`` only. A type may have a better way while others
/// have a store open (``CompactingStoreType``).
///
/// ```swift
/// let maintenance = StoreMaintenance()
/// let report = try maintenance.compact(.sqlite("music.sqlite"))
/// print("\(report.bytesBefore) bytes before, \(report.bytesAfter) bytes after")
/// ```
public struct StoreMaintenance: Sendable {
    /// The types of store that URLs may name.
    package let registry: StoreRegistry

    /// Makes an object that works on the store types of `registry`.
    public init(registry: StoreRegistry) { self.registry = registry }

    /// Rewrites a store so that its file takes as little space as a new copy of it would.
    ///
    /// If no other program has the store open, it is copied into a new file beside it. The new file
    /// is verified by digest, gets the permissions and the owner of the old one, and replaces it
    /// atomically. Other programs cannot open the store meanwhile.
    ///
    /// If another program has the store open, its type compacts it in place if it can, and the
    /// content is compared afterwards. After a crash at any instant, the store is either as it was
    /// or compacted. Identity, content, versions, metadata and used keys stay.
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - options: Timeout, model, options of the type, cancellation and progress are used.
    /// - Returns: What was done.
    /// - Throws: `busy` when the store is open elsewhere for longer than the timeout and its type
    ///   cannot be compacted then, or when a conversion into it is under way; `permissionDenied`,
    ///   also for the file of another user, who would lose it; `unsupported` for a type whose
    ///   stores are not files, or cannot be written, and for a file system without hard links;
    ///   `noSpace`; `corrupted`; `cancelled`. The store is as it was.
    public func compact(
        _ location: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> CompactionReport {
        let type = try requireMaintained(location.type, what: "compacted")
        return try StoreCompaction(location: location, type: type, options: options, registry: registry).run()
    }

    /// Makes what another program changed in a store its recorded content, in one transaction.
    ///
    /// ```swift
    /// let accepted = try StoreMaintenance().acceptExternalChanges(in: location) { changes in
    ///     changes.objectCount < 100
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - location: The store.
    ///   - options: How to open it.
    ///   - isWanted: Receives the changes, if any, and returns whether to accept them.
    /// - Returns: The changes that were accepted, which are empty if there were none; nil if they
    ///   were not wanted.
    /// - Throws: `unsupported` for a type of store that other programs cannot change; `corrupted`
    ///   for content that no store of the type can hold, and for a damaged file; `conflict` if the
    ///   store changed meanwhile. The store is then as it was.
    public func acceptExternalChanges(
        in location: StoreLocation, options: StoreOptions = StoreOptions(),
        if isWanted: (ExternalChanges) -> Bool = { _ in true }
    ) throws(StoreError) -> ExternalChanges? {
        let store = try registry.open(location, options: options)
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
            throw store.closed(after: error)
        }
        try store.close()
        return accepted
    }

    /// Returns the store as one that other programs can change.
    ///
    /// - Throws: `unsupported` for a store whose content only Roost can write.
    package static func changeAccepting(
        _ store: any PersistentStore
    ) throws(StoreError) -> any ChangeAcceptingStore {
        guard let accepting = store as? any ChangeAcceptingStore else {
            throw StoreError(
                .unsupported,
                "Changes by other programs cannot be accepted in stores of type '\(store.type.name)': what differs in '\(store.location.path)' is damage. Restore a backup, or convert it without its damaged objects (roost convert --skip-damaged)."
            )
        }
        return accepting
    }

    func requireMaintained(_ name: String, what: String) throws(StoreError) -> any PersistentStoreType {
        let type = try registry.type(named: name)
        guard type.capabilities.contains(.file), type.capabilities.contains(.writing) else {
            throw StoreError(
                .unsupported, "Stores of type '\(name)' are not files that Roost writes, so they cannot be \(what).")
        }
        return type
    }
}
