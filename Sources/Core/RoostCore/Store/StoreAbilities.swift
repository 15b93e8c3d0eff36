// Optional abilities of stores. Programs call methods of extensions of `PersistentStore`. A method
// uses the ability if the store has it, and a default implementation otherwise. The method's name
// differs from every protocol requirement, because a method of the same name would satisfy the
// requirement.

/// A store that can check the structure of its file, in addition to the checksums of records.
public protocol StructureCheckingStore: PersistentStore {
    /// Throws `corrupted` if the structure of the file is damaged.
    ///
    /// Reads the whole file.
    ///
    /// Programs call ``PersistentStore/requireSoundStructure()``.
    func checkStructure() throws(StoreError)
}

/// A store that can find more problems than a reader of all its records and links.
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
    /// Describes the content of the file that this store cannot return.
    ///
    /// Each description is one sentence without stored values.
    ///
    /// Programs call ``PersistentStore/notices()``.
    func contentNotices() throws(StoreError) -> [String]
}

extension PersistentStore {
    /// Throws `corrupted` if a ``StructureCheckingStore`` finds damage in its file structure.
    ///
    /// The check reads the whole file. Verified conversions run the check; commits and loads do
    /// not. For a store that is not a ``StructureCheckingStore``, the call only checks that the
    /// store is open.
    public func requireSoundStructure() throws(StoreError) {
        if let store = self as? any StructureCheckingStore { return try store.checkStructure() }
        try requireOpenStore()
    }

    /// Examines the store's file structure, indexes and stored checksums, if the store can do so.
    ///
    /// ``checkStore(_:limit:)`` calls this method, and finds further problems by reading the store.
    /// Returns an empty list for a store that is not an ``IntegrityCheckingStore``.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] {
        if let store = self as? any IntegrityCheckingStore { return try store.examineIntegrity() }
        try requireOpenStore()
        return []
    }

    /// Returns descriptions of content that this store cannot return: unreadable values, which
    /// become null, and content that is not in the model.
    ///
    /// Each description is one sentence without stored values. The call may read every row. A
    /// conversion reports the descriptions, because it cannot copy this content. Returns an empty
    /// list for a store that is not a ``NoticeGivingStore``.
    public func notices() throws(StoreError) -> [String] {
        if let store = self as? any NoticeGivingStore { return try store.contentNotices() }
        try requireOpenStore()
        return []
    }

    /// Throws code `closed` after ``close()``.
    private func requireOpenStore() throws(StoreError) { _ = try metadata() }
}
