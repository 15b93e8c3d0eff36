// Optional abilities of stores. Programs call methods of extensions of `PersistentStore`, which use
// the ability or a default implementation. Such a method never has the name of a protocol
// requirement, because it would then satisfy the requirement.

/// A store that can check the structure of its file, in addition to the checksums of records.
public protocol StructureCheckingStore: PersistentStore {
    /// Throws `corrupted` if the structure of the file is damaged.
    ///
    /// Reads the whole file. Programs call ``PersistentStore/requireSoundStructure()``.
    func checkStructure() throws(StoreError)
}

/// A store that can find problems that reading all records and links does not show.
///
/// Examples are indexes that do not match their records, and unreferenced pages.
public protocol IntegrityCheckingStore: PersistentStore {
    /// Examines the file structure, the indexes and the stored checksums.
    ///
    /// Programs call ``PersistentStore/integrityFindings()``.
    func examineIntegrity() throws(StoreError) -> [StoreFinding]
}

/// A store whose file can have content that the store does not return.
public protocol NoticeGivingStore: PersistentStore {
    /// Describes the content that this store cannot return.
    ///
    /// Each description is one sentence without stored values. Programs call
    /// ``PersistentStore/notices()``.
    func contentNotices() throws(StoreError) -> [String]
}

extension PersistentStore {
    /// Throws `corrupted` if a ``StructureCheckingStore`` finds damage in its file structure.
    ///
    /// The check reads the whole file. Verified conversions run it; commits and loads do not. For
    /// any other store, the call only checks that the store is open.
    public func requireSoundStructure() throws(StoreError) {
        if let store = self as? any StructureCheckingStore { return try store.checkStructure() }
        try requireOpenStore()
    }

    /// Examines the file structure, indexes and stored checksums of an ``IntegrityCheckingStore``.
    ///
    /// Returns an empty list for any other store. ``checkStore(_:limit:)`` calls this method, and
    /// finds further problems by reading the store.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] {
        if let store = self as? any IntegrityCheckingStore { return try store.examineIntegrity() }
        try requireOpenStore()
        return []
    }

    /// Describes content that this store cannot return: unreadable values, which become null, and
    /// content that is not in the model.
    ///
    /// Each description is one sentence without stored values. The call may read every row. Returns
    /// an empty list for a store that is not a ``NoticeGivingStore``.
    public func notices() throws(StoreError) -> [String] {
        if let store = self as? any NoticeGivingStore { return try store.contentNotices() }
        try requireOpenStore()
        return []
    }

    private func requireOpenStore() throws(StoreError) { _ = try metadata() }
}
