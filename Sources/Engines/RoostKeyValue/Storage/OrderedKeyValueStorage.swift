public import RoostCore

/// The requirements of the key-value engine: named spaces of ordered keys, snapshots, one writer.
///
/// Keys are ordered by their bytes, a shorter one before a longer one that begins with it.
/// Implement this to get a whole `PersistentStore` out of ``KeyValueStore``: the engine does
/// records, links, constraints, indexes, tallies, versions, bulk loading and all checks.
/// `docs/write-a-backend.md` has a longer description with an example.
///
/// Called from any number of threads at once, never on the cooperative pool; every call may block.
/// Errors keep their codes on the way to the user: `busy`, `noSpace`, `ioFailure`, `corrupted`,
/// `closed`, `readOnly`, `limitExceeded`, `outOfResources`.
public protocol OrderedKeyValueStorage: AnyObject, Sendable {
    /// The longest key the storage takes, in bytes; at least 64.
    ///
    /// Keys are never empty. It must not become smaller while stores exist: the engine writes it
    /// into a store, and refuses to open one with longer keys.
    var maximumKeyByteCount: Int { get }

    /// Whether every read returns memory of this process that was checked when it was filled
    /// (default: false).
    ///
    /// The engine then compares the checksums of records when it examines the store, and not each
    /// time one is read.
    var holdsCheckedMemory: Bool { get }

    /// The value of `StoreMetadata.formatVersion` (default: the version of the engine's format).
    ///
    /// Override it for a storage whose file has its own format instead of the engine's keys and
    /// values.
    var formatVersion: Int { get }

    /// Returns a consistent view of all spaces after the latest commit, including commits of other
    /// processes.
    ///
    /// Never waits for a writer, and does not show later commits. Any number of views may be open
    /// at once.
    /// - Throws: `closed` after ``close()``; `storeReplaced` when the name now belongs to another
    ///   file.
    func read() throws(StoreError) -> any KeyValueReader

    /// Runs `body` in a write transaction: all of it is committed and durable on return, or nothing
    /// when `body` throws.
    ///
    /// Transactions queue; waiting longer than `timeoutSeconds` throws code `busy`. When the
    /// storage had to make room, `body` may run again from the start, on another thread; it must
    /// not depend on anything that its first run changed.
    func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Starts a write transaction that lasts over several calls, for loads that are too large for
    /// one.
    ///
    /// It has the writer's place until it ends: other transactions, of every program that may have
    /// the store open, wait for it up to their own timeouts.
    /// - Throws: `busy` after `timeoutSeconds`; `readOnly` for a storage that was opened read-only;
    ///   `closed`.
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite

    /// Makes every committed transaction durable, for a storage that was opened without durable
    /// commits.
    ///
    /// Called at the end of loads into stores with `StoreOptions/isUnpublished`; only for those a
    /// commit may be less than durable.
    func sync() throws(StoreError)

    /// Returns the number of bytes that the storage takes on disk or in memory.
    func byteCount() throws(StoreError) -> Int

    /// Returns the problems in the storage's own structure; empty if it is sound.
    ///
    /// The engine examines keys and values itself. The method reads the stored bytes, not a cache,
    /// and changes nothing.
    func integrityFindings() throws(StoreError) -> [StoreFinding]

    /// Releases everything.
    ///
    /// Open readers keep the resources that they need until they are closed. So does a running
    /// write transaction, which can still be committed. The engine calls this once, also when
    /// opening the store fails.
    func close() throws(StoreError)
}

extension OrderedKeyValueStorage {
    /// False: bytes come from a medium that can change them.
    public var holdsCheckedMemory: Bool { false }

    /// The version of the engine's format for stores without required features, 2.
    public var formatVersion: Int { MetaSpace.formatVersion }

    /// Returns the version that metadata name for a version of the engine's format.
    func formatVersion(ofEngineVersion version: Int) -> Int {
        // A storage's own format counts required features as one version more, too.
        formatVersion + version - MetaSpace.formatVersion
    }

    /// Runs `body` once, in a long write of its own.
    public func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let write = try beginLongWrite(timeoutSeconds: timeoutSeconds)
        do throws(StoreError) {
            let result = try write.perform(body)
            try write.commit()
            return result
        } catch {
            write.abort()
            throw error
        }
    }
}

/// The spaces of the key-value engine.
///
/// Each space is a separate ordered map.
public enum KeySpace: String, CaseIterable, Sendable {
    /// Metadata, tallies, key sequences.
    case meta
    /// Records by hierarchy and key.
    case records
    /// Links by relationship, source and place.
    case links
    /// Links by relationship, target and place.
    case inverseLinks
    /// To-one references by relationship, destination and place: what derived to-many relationships
    /// are read from.
    case references
    /// Unique values and the key of the object that has them.
    case unique
    /// Fetch indexes.
    case indexes

    /// The space's position among all, from 0: for arrays that hold something for each.
    public var position: Int {
        switch self {
        case .meta: 0
        case .records: 1
        case .links: 2
        case .inverseLinks: 3
        case .references: 4
        case .unique: 5
        case .indexes: 6
        }
    }
}

/// A consistent view of a storage.
///
/// Use it from one thread at a time.
public protocol KeyValueReader: AnyObject {
    /// Calls `body` with the value of `key`, or with nil if the key is missing.
    ///
    /// The bytes are valid only inside `body`.
    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError)

    /// Returns a cursor before the first key of a space.
    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor

    /// Ends the view, and its cursors.
    ///
    /// Calling it again does nothing.
    func close()
}

/// A position in a space.
///
/// Bytes it shows are valid until it moves or its view ends or, in a write transaction, until the
/// next write. A storage whose bytes have no fixed address can keep them in ``PinnedBytes``. After
/// a write the engine calls ``seek(to:)`` before any other method of the cursor. After the end of
/// its view ``seek(to:)``, ``seek(before:)`` and ``next()`` throw `closed`.
public protocol KeyValueCursor: AnyObject {
    /// Moves to the first key that is not before `key`.
    ///
    /// Returns false, at the end, if all keys are before it; a later call may find a key again. An
    /// empty key is before all others.
    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    /// Moves to the last key before `key`; nil for the last of all.
    ///
    /// Returns false, at the end, if no key is before it; a later call may find a key again.
    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool
    /// Moves to the next key, or from before the first to the first.
    ///
    /// Returns false at the end and ever after.
    func next() throws(StoreError) -> Bool
    /// Calls `body` for the entry at the position and each following entry, until it returns false.
    ///
    /// Afterwards, and when `body` throws, the cursor is at the last entry shown; at the end
    /// nothing is shown. Most reading is done by this, so a storage that can loop over entries
    /// itself should implement it; the default implementation calls ``next()`` for each entry.
    /// - Parameter body: Takes key and value; uses neither the cursor nor what ends its view, and
    ///   writes nothing.
    /// - Returns: False at the end; true when `body` returned false.
    /// - Throws: What `body` throws, and what ``next()`` does.
    func visit(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool
    /// The key at the position; empty at the end.
    var key: UnsafeRawBufferPointer { get }
    /// The value at the position; empty at the end.
    var value: UnsafeRawBufferPointer { get }
}

extension KeyValueCursor {
    /// Calls ``next()`` for each entry.
    public func visit(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        // Keys are never empty.
        while !key.isEmpty {
            guard try body(key, value) else { return true }
            guard try next() else { return false }
        }
        return false
    }
}

/// A write transaction.
///
/// It reads its own writes. Use it only inside the closure it was passed to;
/// ``KeyValueReader/close()`` does not end it. Keys are neither empty nor longer than
/// ``OrderedKeyValueStorage/maximumKeyByteCount``; values have up to 1 GiB and may be empty.
public protocol KeyValueWriter: KeyValueReader {
    /// Sets the value of a key, replacing any old value.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError)
    /// Sets the value of a key that does not exist.
    ///
    /// Returns false, changing nothing, if it exists. Implement this if your storage can do both in
    /// one search.
    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool
    /// Sets the value of a key that comes after all keys of the space.
    ///
    /// Throws code `invalidRequest` for any other key.
    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError)
    /// Removes a key.
    ///
    /// Returns whether it was there.
    @discardableResult
    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool
}

extension KeyValueWriter {
    /// Looks for the key, then puts it.
    public func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        var exists = false
        try withValue(of: key, in: space) { (value) throws(StoreError) in exists = value != nil }
        if !exists { try put(key, value, in: space) }
        return !exists
    }
}

/// A write transaction that lasts over several calls.
///
/// Deallocation aborts it.
public protocol KeyValueLongWrite: AnyObject {
    /// Runs `body` once, in the transaction, on the thread the storage writes on.
    ///
    /// After an error the transaction can only be aborted.
    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result
    /// Makes everything visible and durable, at once, and lets the next writer start.
    ///
    /// After an error nothing of the transaction shows in this storage, and it can only be aborted.
    /// Only after `ioFailure` may it turn out to be on the disk; then the storage accepts no
    /// further transaction until it is opened again.
    /// - Throws: `noSpace`, `ioFailure`; `closed` when the storage was closed meanwhile, or after
    ///   an error of ``perform(_:)``.
    func commit() throws(StoreError)
    /// Gives everything up.
    ///
    /// Calling it again, or after a commit, does nothing.
    func abort()
}
