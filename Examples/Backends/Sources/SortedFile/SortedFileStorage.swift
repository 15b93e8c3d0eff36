import RoostCore
import RoostFiles
import RoostKeyValue

/// An ordered key-value storage in one file, for small stores that several programs share.
///
/// Every open store has the whole file in memory, and every commit rewrites it. Reads need no
/// lock, because the path always refers to a complete file. A writer holds the store's `WriterLock`
/// for the whole transaction, so all processes together have one writer.
final class SortedFileStorage: OrderedKeyValueStorage {
    let maximumKeyByteCount = 511
    private let path: String
    private let isReadOnly: Bool
    /// The lock that keeps other programs from removing the file; nil if a reader cannot lock it.
    private let lock: StoreLock?
    /// The content at the last read or commit; nil after closing or an I/O failure.
    private let latest: Mutex<SortedFile?>

    /// Opens the file at `path` or, if `isNew`, prepares to create it in the first commit.
    init(at path: String, isNew: Bool, options: StoreOptions) throws(StoreError) {
        (self.path, isReadOnly) = (StoreFile.resolvingLink(path), options.isReadOnly)
        let timeout = options.timeoutSeconds
        // Read before locking, so that no lock file is created beside a file of another type.
        latest = Mutex(isNew ? SortedFile() : try SortedFile(at: path))
        lock =
            isReadOnly
            ? try StoreLock.acquireForReading(storeAt: path, timeoutSeconds: timeout)
            : try StoreLock.acquire(forStoreAt: path, mode: .shared, timeoutSeconds: timeout)
    }

    func read() throws(StoreError) -> any KeyValueReader { SortedFileTransaction(try current()) }

    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        guard !isReadOnly else { throw StoreError(.readOnly, "'\(path)' was opened read-only; open it for writing.") }
        let place = try WriterLock(forStoreAt: path)
        try place.lock(timeoutSeconds: timeoutSeconds)
        return SortedFileTransaction(try current(), place: place, storage: self)
    }

    func sync() throws(StoreError) {}  // Every commit is already durable.

    func byteCount() throws(StoreError) -> Int { try StoreFile.byteCount(at: path) }

    func integrityFindings() throws(StoreError) -> [StoreFinding] {
        do throws(StoreError) { _ = try SortedFile(at: path) } catch  where error.code == .corrupted {
            return [StoreFinding(.damage, message: error.message)]
        }
        return []
    }

    func close() throws(StoreError) {
        latest.withLock { $0 = nil }
        lock?.release()
    }

    /// Returns the file of the latest commit of any process, and reads it again only if it changed.
    private func current() throws(StoreError) -> SortedFile {
        guard let known = latest.withLock({ $0 }) else { throw StoreError(.closed, "'\(path)' was closed before.") }
        if known.commit == 0 || StoreFile.read(prefix: known.head.count, of: path) == known.head { return known }
        let found = try SortedFile(at: path)
        guard found.identity == known.identity else {
            throw StoreError(
                .storeReplaced, "Another store replaced '\(path)'; close it and open it again.")
        }
        latest.withLock { if let old = $0, old.commit < found.commit { $0 = found } }
        return found
    }

    fileprivate func commit(_ file: SortedFile) throws(StoreError) {
        guard try current().commit == file.commit else { throw StoreError(.busy, "'\(path)' changed; try again.") }
        // A rename would leave other hard links with the old content.
        if file.commit > 0 { try StoreFile.requireOneName(ofStoreAt: path, forWriting: true) }
        var file = file
        do throws(StoreError) { try StoreFile.write(file.encodeNext(), as: path, overwriting: file.commit > 1) } catch {
            // The disk's content is unknown after an I/O failure. So the store closes, and the next open reads it.
            if error.code == .ioFailure { latest.withLock { $0 = nil } }
            throw error
        }
        latest.withLock { [file] in if $0 != nil { $0 = file } }
    }
}

/// A view of the file at one commit or, with a writer lock, a write transaction.
private final class SortedFileTransaction: KeyValueWriter, KeyValueLongWrite {
    private(set) var file: SortedFile
    private let place: WriterLock?
    private let storage: SortedFileStorage?
    private var (isOpen, isChanged, hasFailed) = (true, false, false)

    init(_ file: SortedFile, place: WriterLock? = nil, storage: SortedFileStorage? = nil) {
        (self.file, self.place, self.storage) = (file, place, storage)
    }

    deinit { abort() }

    func close() { isOpen = isOpen && place != nil }  // Only a commit or an abort ends a write transaction.

    func requireOpen() throws(StoreError) {
        guard isOpen else { throw StoreError(.closed, "The view of the storage, or its write transaction, is over.") }
    }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try requireOpen()
        let (position, exists) = file.find(key, in: space)
        guard exists else { return try body(nil) }
        let value = file[space][position].value
        try value.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try body(bytes) }
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor { SortedFileCursor(self, space: space) }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try requireOpen()
        guard (1...511).contains(key.count) else { throw StoreError(.limitExceeded, "A key has 1 to 511 bytes.") }
        let (position, exists) = file.find(key, in: space)
        file[space].replaceSubrange(position..<position + (exists ? 1 : 0), with: [(Array(key), Array(value))])
        isChanged = true
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        guard file.find(key, in: space).position == file[space].count else {
            throw StoreError(.invalidRequest, "A key was appended to '\(space)' that does not come after all others.")
        }
        try put(key, value, in: space)
    }

    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        try requireOpen()
        let (position, exists) = file.find(key, in: space)
        if exists { file[space].remove(at: position) }
        isChanged = isChanged || exists
        return exists
    }

    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try requireUsable()
        hasFailed = true
        let result = try body(self)
        hasFailed = false
        return result
    }

    func commit() throws(StoreError) {
        try requireUsable()
        if isChanged { try storage?.commit(file) }
        abort()
    }

    func abort() {
        isOpen = false
        place?.close()
    }

    private func requireUsable() throws(StoreError) {
        try requireOpen()
        guard !hasFailed else { throw StoreError(.closed, "The write transaction failed before; abort it.") }
    }
}

/// A cursor that stores its key, and searches for the key again when it moves.
private final class SortedFileCursor: KeyValueCursor {
    private let view: SortedFileTransaction
    private let space: KeySpace
    private let (shownKey, shownValue) = (PinnedBytes(), PinnedBytes())
    private var isAtEnd = false

    init(_ view: SortedFileTransaction, space: KeySpace) { (self.view, self.space) = (view, space) }

    var key: UnsafeRawBufferPointer { shownKey.bytes }
    var value: UnsafeRawBufferPointer { shownValue.bytes }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        try show(view.file.find(key, in: space).position)
    }

    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool {
        let position = key.map { view.file.find($0, in: space).position } ?? view.file[space].count
        return try show(position == 0 ? .max : position - 1)
    }

    func next() throws(StoreError) -> Bool {
        let (position, exists) = view.file.find(key, in: space)
        return try show(isAtEnd ? .max : exists ? position + 1 : position)
    }

    private func show(_ position: Int) throws(StoreError) -> Bool {
        try view.requireOpen()
        let entries = view.file[space]
        isAtEnd = position >= entries.count
        shownKey.set(isAtEnd ? [] : entries[position].key)
        shownValue.set(isAtEnd ? [] : entries[position].value)
        return !isAtEnd
    }
}
