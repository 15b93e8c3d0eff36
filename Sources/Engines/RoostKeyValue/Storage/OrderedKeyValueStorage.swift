public import RoostCore

/// The interface that the key-value engine requires of a storage: named spaces of ordered keys,
/// snapshots, and one writer.
///
/// Keys are ordered by their bytes. A key precedes longer keys that begin with it. Implement this
/// protocol to get a complete `PersistentStore` from ``KeyValueStore``. `docs/write-a-backend.md`
/// has an example.
///
/// The methods are called from any number of threads at once, never on the cooperative pool, and
/// may block. Errors keep their codes on the way to the user: `busy`, `noSpace`, `ioFailure`,
/// `outcomeUnknown`, `corrupted`, `closed`, `readOnly`, `limitExceeded`, `outOfResources`.
public protocol OrderedKeyValueStorage: AnyObject, Sendable {
    /// The maximum length of a key in the storage, in bytes; at least 64.
    ///
    /// The limit must not decrease while stores exist: the engine records the limit in each new
    /// store, and refuses to open a store whose recorded limit is greater.
    var maximumKeyByteCount: Int { get }

    /// Whether all reads return bytes that this process keeps in memory and has already checked
    /// (default: false).
    ///
    /// If true, snapshots do not verify the checksums of records.
    var holdsCheckedMemory: Bool { get }

    /// The value of `StoreMetadata.formatVersion` for stores without required features (default:
    /// the version of the engine's format).
    ///
    /// Implement this property for a storage whose file has its own format.
    var formatVersion: Int { get }

    /// Returns a consistent view of all spaces after the latest commit of any process.
    ///
    /// Never waits for a writer, and does not show later commits. Any number of views may be open.
    /// - Throws: `closed` after ``close()``; `storeReplaced` if the path now refers to another
    ///   file.
    func read() throws(StoreError) -> any KeyValueReader

    /// Runs `body` in a write transaction.
    ///
    /// On return, all changes are committed and durable. If `body` throws, no change is committed.
    ///
    /// Transactions queue. Throws `busy` after waiting for `timeoutSeconds`. If the storage had to
    /// enlarge itself, `body` may run again from the start, on another thread. So `body` must not
    /// depend on changes of its first run.
    func write<Result: Sendable>(
        timeoutSeconds: Double, _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result

    /// Starts a write transaction that can span several calls.
    ///
    /// The transaction holds the writer lock until it ends. Transactions of this and of other
    /// programs wait for the lock, up to their own timeouts.
    /// - Throws: `busy` after `timeoutSeconds`; `readOnly` if the storage was opened read-only;
    ///   `closed`.
    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite

    /// Makes all committed transactions durable, if the storage was opened without durable commits.
    ///
    /// The engine calls this method at the end of loads into stores with
    /// `StoreOptions/isUnpublished`. Only the storages of such stores may omit durable commits.
    func sync() throws(StoreError)

    /// Returns the number of bytes that the storage uses on disk or in memory.
    func byteCount() throws(StoreError) -> Int

    /// Returns the problems in the storage's own structure; empty for a sound structure.
    ///
    /// The engine itself examines keys and values. The method must read the stored bytes, not a
    /// cache, and change nothing.
    func integrityFindings() throws(StoreError) -> [StoreFinding]

    /// Releases the storage's resources.
    ///
    /// An open reader keeps the resources that it needs until the reader is closed. A running write
    /// transaction keeps its resources too, and may still be committed. The engine calls this
    /// method at most once: when the store is closed or could not be opened.
    func close() throws(StoreError)
}

extension OrderedKeyValueStorage {
    /// The default, false, for a storage whose medium can damage bytes.
    public var holdsCheckedMemory: Bool { false }

    /// The default, the version of the engine's format for stores without required features: 2.
    public var formatVersion: Int { MetaSpace.formatVersion }

    func formatVersion(ofEngineVersion version: Int) -> Int {
        // A required feature increases the engine's version and the storage's own version by one.
        formatVersion + version - MetaSpace.formatVersion
    }

    /// Runs `body` once, in a separate long write.
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
    /// Metadata, tallies, last keys, history.
    case meta
    /// Records by hierarchy and key.
    case records
    /// Links by relationship, source and place.
    case links
    /// Links by relationship, target and place.
    case inverseLinks
    /// To-one references by relationship, destination and place in the inverse relationship.
    ///
    /// Derived to-many relationships are read from these references.
    case references
    /// Unique values, each with the key of its object.
    case unique
    /// Fetch indexes.
    case indexes

    /// The space's position among all spaces, from 0.
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

    /// Ends the view and its cursors.
    ///
    /// Calling it again does nothing.
    func close()
}

/// A position in a space.
///
/// The bytes of key and value are valid until the cursor moves, its view ends, or the transaction
/// writes. A storage whose bytes have no fixed address can copy them into ``PinnedBytes``. After a
/// write, the engine calls ``seek(to:)`` before any other method of the cursor. After the end of
/// the view, ``seek(to:)``, ``seek(before:)`` and ``next()`` throw `closed`.
public protocol KeyValueCursor: AnyObject {
    /// Moves to the first key that is not before `key`.
    ///
    /// If all keys precede `key`, moves to the end and returns false. Later calls may find keys
    /// again. An empty key precedes all others.
    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    /// Moves to the last key before `key`, or to the last key of all if `key` is nil.
    ///
    /// If no key precedes `key`, moves to the end and returns false. Later calls may find keys
    /// again.
    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool
    /// Moves to the next key; a new cursor moves to the first key.
    ///
    /// Returns false at the end, and in all later calls until a seek finds a key.
    func next() throws(StoreError) -> Bool
    /// Calls `body` for the entry at the position and each following entry, until `body` returns
    /// false.
    ///
    /// If `body` returns false or throws, the cursor stays at that entry. At the end, `body` is not
    /// called. Most reads use this method: implement it if the storage can loop over entries
    /// itself.
    /// - Parameter body: Receives key and value. Must not use the cursor, end its view or write.
    /// - Returns: False at the end; true if `body` returned false.
    /// - Throws: The errors of `body` and of ``next()``.
    func visit(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool
    /// The key at the position; empty at the end.
    var key: UnsafeRawBufferPointer { get }
    /// The value at the position; empty at the end.
    var value: UnsafeRawBufferPointer { get }
}

extension KeyValueCursor {
    /// Calls `body` for each entry, and ``next()`` after each.
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
/// Reads in the transaction show its own writes. Use the writer only inside the closure that
/// receives it; ``KeyValueReader/close()`` does not end the transaction. Keys are neither empty nor
/// longer than ``OrderedKeyValueStorage/maximumKeyByteCount``. Values have up to 1 GiB and may be
/// empty.
public protocol KeyValueWriter: KeyValueReader {
    /// Sets the value of a key, replacing any old value.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError)
    /// Sets the value of a key that does not exist.
    ///
    /// Returns false without a change if the key exists. Implement this method if your storage can
    /// look up and write in one search.
    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool
    /// Sets the value of a key that comes after all keys of the space.
    ///
    /// Throws `invalidRequest` for any other key.
    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError)
    /// Removes a key.
    ///
    /// Returns whether the key existed.
    @discardableResult
    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool
}

extension KeyValueWriter {
    /// Looks up the key, and writes it if it is missing.
    public func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        var exists = false
        try withValue(of: key, in: space) { (value) throws(StoreError) in exists = value != nil }
        if !exists { try put(key, value, in: space) }
        return !exists
    }
}

/// A write transaction that spans several calls.
///
/// Deallocating the object aborts the transaction if it has not been committed.
public protocol KeyValueLongWrite: AnyObject {
    /// Runs `body` once in the transaction, on the storage's writing thread.
    ///
    /// After an error, the transaction can only be aborted.
    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result
    /// Makes all changes visible and durable at once, and releases the writer lock.
    ///
    /// After an error, the transaction can only be aborted. After `outcomeUnknown`, the transaction
    /// may be on the disk; after any other error, nothing of it is written. After `outcomeUnknown`,
    /// the storage accepts no transaction until it is opened again or has read the disk again.
    /// - Throws: `noSpace`, `ioFailure`, `outcomeUnknown`; `closed` after an error of
    ///   ``perform(_:)``, or if the storage was closed and can no longer commit.
    func commit() throws(StoreError)
    /// Discards all changes; does nothing after a commit or an abort.
    func abort()
}
