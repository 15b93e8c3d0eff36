public import RoostCore
internal import RoostFiles
public import RoostMigration

/// Backups and compaction of stores that are files and that Roost can write.
///
/// Some types can also compact a store that is open elsewhere; see `CompactingStoreType`.
///
/// ```swift
/// let maintenance = StoreMaintenance()
/// let report = try maintenance.compact(.sqlite("music.sqlite"))
/// print("\(report.bytesBefore) bytes before, \(report.bytesAfter) bytes after")
/// ```
public struct StoreMaintenance: Sendable {
    package let registry: StoreRegistry

    /// Creates an instance for the store types of `registry`.
    public init(registry: StoreRegistry) { self.registry = registry }

    /// Rewrites a store so that its file is as small as a new copy.
    ///
    /// If no other program has the store open, the store is copied to a new file beside it. The new
    /// file is verified by digest, gets the permissions and the owner of the old file, and replaces
    /// the old file atomically. Other programs cannot open the store during the compaction.
    ///
    /// The store is compacted in place if another program has it open and the store type supports
    /// this. An SQLite store is also compacted in place if its file has tables or indexes of other
    /// programs. After a compaction in place, the content is compared with the previous content.
    ///
    /// A crash at any time leaves the store either unchanged or compacted. Identity, content,
    /// versions, metadata and used keys are preserved, and so are tables and indexes of other
    /// programs.
    ///
    /// - Parameters:
    ///   - location: The location of the store.
    ///   - options: The options. Options for a destination, damaged records, hard links, history
    ///     and verification have no effect.
    /// - Returns: A report of the compaction.
    /// - Throws: `busy` if the store is open elsewhere for longer than the timeout and its type
    ///   cannot compact an open store, or if a conversion into the store is running;
    ///   `permissionDenied`, also if the new file would not belong to the old owner; `unsupported`
    ///   for a type whose stores are not files or cannot be written, and for a file system without
    ///   hard links; `noSpace`; `corrupted`; `cancelled`. After an error, the store is unchanged.
    public func compact(
        _ location: StoreLocation, options: ConversionOptions = ConversionOptions()
    ) throws(StoreError) -> CompactionReport {
        let type = try requireMaintained(location.type, what: "compacted")
        return try StoreCompaction(location: location, type: type, options: options, registry: registry).run()
    }

    /// Accepts changes of another program as the store's recorded content, in one transaction.
    ///
    /// ```swift
    /// let accepted = try StoreMaintenance().acceptExternalChanges(in: location) { changes in
    ///     changes.objectCount < 100
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - location: The location of the store.
    ///   - options: The options for opening the store.
    ///   - isWanted: A closure that receives the changes, if any, and returns whether to accept
    ///     them.
    /// - Returns: The accepted changes, or nil if `isWanted` refused them. Empty if the store had
    ///   no changes of another program.
    /// - Throws: `unsupported` for a type of store that other programs cannot change; `corrupted`
    ///   for content that no store of the type can hold, and for a damaged file; `conflict` if the
    ///   store changed after the changes were read. After an error, the store is unchanged.
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

    /// Returns the store as a store that can accept changes of other programs.
    ///
    /// - Throws: `unsupported` if the store cannot accept changes of other programs.
    package static func changeAccepting(
        _ store: any PersistentStore
    ) throws(StoreError) -> any ChangeAcceptingStore {
        guard let accepting = store as? any ChangeAcceptingStore else {
            throw StoreError(
                .unsupported,
                "Cannot accept changes in '\(store.location.path)': only stores in SQL databases can accept changes of other programs, so a difference in a store of type '\(store.type.name)' is damage. Restore a backup, or convert the store without its damaged objects (roost convert --skip-damaged)."
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
