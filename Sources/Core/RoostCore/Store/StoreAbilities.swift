// Abilities that a store need not have. Each is a protocol of its own; what programs call is an
// extension of `PersistentStore`, which asks a store that conforms and has an answer for every
// other one. The requirements have other names than what programs call, so that a type which
// forgets one does not compile.

/// A store whose type checks the structure of its file, beside the checksums of records and links.
public protocol StructureCheckingStore: PersistentStore {
    /// Throws code `corrupted` if the structure of the file is damaged; reads the whole file.
    ///
    /// Programs call ``PersistentStore/requireSoundStructure()``.
    func checkStructure() throws(StoreError)
}

/// A store whose type examines what reading every record and link does not show.
///
/// Examples are indexes that do not match their records, and pages that nothing refers to.
public protocol IntegrityCheckingStore: PersistentStore {
    /// Examines the file structure, the indexes and the stored checksums.
    ///
    /// Programs call ``PersistentStore/integrityFindings()``.
    func examineIntegrity() throws(StoreError) -> [StoreFinding]
}

/// A store whose file can have content that the store does not return.
public protocol NoticeGivingStore: PersistentStore {
    /// Content of the file that this store cannot return, one sentence each, without stored values.
    ///
    /// Programs call ``PersistentStore/notices()``.
    func contentNotices() throws(StoreError) -> [String]
}

extension PersistentStore {
    /// Throws code `corrupted` if the structure of the store's file is damaged and its type has a
    /// check for that.
    ///
    /// The check reads the whole file. It finds what a disk or memory damaged, so no commit and no
    /// load runs it; a verified conversion does. A ``StructureCheckingStore`` has such a check; for
    /// other stores only an open store is required.
    public func requireSoundStructure() throws(StoreError) {
        if let store = self as? any StructureCheckingStore { return try store.checkStructure() }
        try requireOpenStore()
    }

    /// Examines what only the backend knows: its file structure, its indexes, its stored checksums.
    ///
    /// ``checkStore(_:limit:)`` calls this and adds everything that can be seen through the
    /// contract. Empty for a store that is not an ``IntegrityCheckingStore``.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] {
        if let store = self as? any IntegrityCheckingStore { return try store.examineIntegrity() }
        try requireOpenStore()
        return []
    }

    /// Content of the file that this store cannot return: values that read as null, and what the
    /// model leaves out.
    ///
    /// One sentence each, without stored values. It may read every row. A conversion reports the
    /// notices, because its destination does not get this content. Empty for a store that is not a
    /// ``NoticeGivingStore``.
    public func notices() throws(StoreError) -> [String] {
        if let store = self as? any NoticeGivingStore { return try store.contentNotices() }
        try requireOpenStore()
        return []
    }

    /// Throws code `closed` after ``close()``.
    private func requireOpenStore() throws(StoreError) { _ = try metadata() }
}
