// Optional abilities of stores. Programs call extensions of `PersistentStore`, which use the
// ability of a conforming store and otherwise a default implementation. An extension method never
// has the name of a protocol requirement, because it would then satisfy the requirement.

/// A store whose type checks the structure of its file, in addition to the checksums of records.
public protocol StructureCheckingStore: PersistentStore {
    /// Throws `corrupted` if the structure of the file is damaged.
    ///
    /// Reads the whole file.
    ///
    /// Programs call ``PersistentStore/requireSoundStructure()``.
    func checkStructure() throws(StoreError)
}

/// A store whose type finds problems that reading every record and link does not reveal.
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
    /// Describes content of the file that this store cannot return, one sentence each, without
    /// values.
    ///
    /// Programs call ``PersistentStore/notices()``.
    func contentNotices() throws(StoreError) -> [String]
}

extension PersistentStore {
    /// Throws `corrupted` if a ``StructureCheckingStore`` finds damage in its file structure.
    ///
    /// The check reads the whole file. Verified conversions run the check; commits and loads do
    /// not. Any other store is only checked to be open.
    public func requireSoundStructure() throws(StoreError) {
        if let store = self as? any StructureCheckingStore { return try store.checkStructure() }
        try requireOpenStore()
    }

    /// Examines the store's file structure, indexes and stored checksums, if its type can do so.
    ///
    /// ``checkStore(_:limit:)`` calls this method and adds the problems that it finds by reading
    /// the store. Returns an empty list for a store that is not an ``IntegrityCheckingStore``.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] {
        if let store = self as? any IntegrityCheckingStore { return try store.examineIntegrity() }
        try requireOpenStore()
        return []
    }

    /// Returns descriptions of content that this store cannot return: unreadable values, which
    /// become null, and content that is not in the model.
    ///
    /// Each description is one sentence without stored values. The call may read every row. A
    /// conversion reports the notices, because its destination does not get this content. Returns
    /// an empty list for a store that is not a ``NoticeGivingStore``.
    public func notices() throws(StoreError) -> [String] {
        if let store = self as? any NoticeGivingStore { return try store.contentNotices() }
        try requireOpenStore()
        return []
    }

    /// Throws code `closed` after ``close()``.
    private func requireOpenStore() throws(StoreError) { _ = try metadata() }
}
