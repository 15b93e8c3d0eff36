/// A store of a type that cannot write: every call that would change it throws `unsupported`.
///
/// Use this protocol for files of foreign formats. An implementation provides only the members that
/// read, such as ``PersistentStore/snapshot()``; see ``ScanningSnapshot``. Its type is a
/// ``ReadOnlyPersistentStoreType``.
public protocol ReadOnlyPersistentStore: PersistentStore {
    /// Throws code `closed` if the store was closed with ``PersistentStore/close()``.
    func requireOpen() throws(StoreError)
}

extension ReadOnlyPersistentStore {
    /// Always true.
    public var isReadOnly: Bool { true }

    /// Throws code `unsupported`.
    public func reserveKeys(_ count: Int, for entity: EntityName) throws(StoreError) -> Range<Int64> {
        try refuseWriting()
    }

    /// Throws code `unsupported`.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitReceipt { try refuseWriting() }

    /// Throws code `unsupported`.
    public func bulkLoader(_ options: BulkLoadOptions) throws(StoreError) -> any BulkLoader { try refuseWriting() }

    private func refuseWriting<Result>() throws(StoreError) -> Result {
        try requireOpen()
        throw type.cannotBe("changed")
    }
}

/// A type of store that cannot write: creating, destroying and replacing throw code `unsupported`.
///
/// Its capabilities do not include ``StoreCapability/writing``.
public protocol ReadOnlyPersistentStoreType: PersistentStoreType {}

extension ReadOnlyPersistentStoreType {
    /// Throws code `unsupported`.
    public func create(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore { throw cannotBe("created") }

    /// Throws code `unsupported`.
    public func destroy(_ location: StoreLocation) throws(StoreError) { throw cannotBe("removed") }

    /// Throws code `unsupported`.
    public func replace(
        _ destination: StoreLocation, with source: StoreLocation, overwriting: Bool
    ) throws(StoreError) { throw cannotBe("replaced") }
}

extension PersistentStoreType {
    func cannotBe(_ done: String) -> StoreError {
        StoreError(
            .unsupported,
            "Stores of type '\(name)' can be read but not \(done). To write, use another type, such as sqlite: 'roost convert' copies a store to another type."
        )
    }
}
