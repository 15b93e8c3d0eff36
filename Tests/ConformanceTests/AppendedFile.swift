import Foundation
import RoostCore
import RoostFiles
import RoostKeyValue

/// A fault of the stores of an ``AppendedFileStoreType``.
enum AppendedFileFault: String, CaseIterable, Sendable {
    /// A damaged file is read up to the damage, even if whole commits follow.
    case stopsAtDamage
    /// The whole entries of a cut-off commit are applied.
    case readsHalfCommits
    /// A file that ends within a commit is read as it was after its first commit.
    case forgetsAllCommits
    /// A torn commit remains in the file, and the next commit is appended after it.
    case appendsToTornEnd
}

/// A log-structured file: commits are appended to it, and opening it reads all of them.
///
/// It has a header of 24 bytes and a frame for each commit: size, checksum, number and entries.
/// Damage before a whole frame is an error. Other damage is the torn end of a commit, and reading
/// ignores it. A checksum identifies a whole frame.
struct AppendedFile: Sendable {
    static let magic = Array("appended file 1\n".utf8)
    static let headByteCount = magic.count + 8
    static let frameHeadByteCount = 24

    let identity: UInt64
    /// The number of bytes up to the end of the last whole commit.
    private(set) var byteCount: Int
    private var commit: UInt64 = 0
    private var spaces: [[(key: [UInt8], value: [UInt8])]] = KeySpace.allCases.map { _ in [] }

    init() {
        identity = .random(in: 1 ... .max)
        byteCount = Self.headByteCount
    }

    var head: [UInt8] { Self.magic + Self.bytes(identity) }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    /// Reads eight bytes as a number; fast, because a search for frames calls it at each position.
    private static func number(at start: Int, in bytes: [UInt8]) -> UInt64 {
        var number: UInt64 = 0
        var index = start + 8
        while index > start {
            index -= 1
            number = number << 8 | UInt64(bytes[index])
        }
        return number
    }

    subscript(space: KeySpace) -> [(key: [UInt8], value: [UInt8])] { spaces[space.position] }

    func find(_ key: UnsafeRawBufferPointer, in space: KeySpace) -> (position: Int, exists: Bool) {
        let entries = spaces[space.position]
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return (low, low < entries.count && entries[low].key.elementsEqual(key))
    }

    /// Changes one entry; nil removes it.
    mutating func set(_ key: [UInt8], _ value: [UInt8]?, in space: KeySpace) {
        let (position, exists) = key.withUnsafeBytes { find($0, in: space) }
        spaces[space.position].replaceSubrange(
            position..<position + (exists ? 1 : 0), with: value.map { [(key, $0)] } ?? [])
    }

    // MARK: Frames

    /// Returns the bytes of the next commit, and counts it as written.
    mutating func append(_ entries: [(space: KeySpace, key: [UInt8], value: [UInt8]?)]) -> [UInt8] {
        var payload: [UInt8] = []
        for (space, key, value) in entries {
            payload += [UInt8(space.position), value == nil ? 0 : 1] + Self.bytes(UInt64(key.count)) + key
            payload += Self.bytes(UInt64(value?.count ?? 0)) + (value ?? [])
        }
        commit += 1
        let checksum = Self.checksum(of: commit, identity: identity, payload: payload[...])
        let frame = Self.bytes(UInt64(payload.count)) + Self.bytes(checksum) + Self.bytes(commit) + payload
        byteCount += frame.count
        return frame
    }

    private static func checksum(of commit: UInt64, identity: UInt64, payload: ArraySlice<UInt8>) -> UInt64 {
        RecordHash.wide(bytes(commit) + bytes(identity) + bytes(UInt64(payload.count)) + payload).low
    }

    /// Returns the payload's range and the commit number of the whole frame at `start`, or nil.
    ///
    /// The commit must be later than the last one read.
    private func frame(at start: Int, in bytes: [UInt8]) -> (payload: Range<Int>, commit: UInt64)? {
        guard bytes.count - start >= Self.frameHeadByteCount else { return nil }
        let count = Self.number(at: start, in: bytes)
        guard count > 0, count <= UInt64(bytes.count - start - Self.frameHeadByteCount) else { return nil }
        let payload = start + Self.frameHeadByteCount..<start + Self.frameHeadByteCount + Int(count)
        let number = Self.number(at: start + 16, in: bytes)
        guard number > commit, number < commit + 1000,
            Self.number(at: start + 8, in: bytes)
                == Self.checksum(of: number, identity: identity, payload: bytes[payload])
        else { return nil }
        return (payload, number)
    }

    /// Reads a file; throws `notAStore`, `corrupted` and errors of files.
    init(at path: String, fault: AppendedFileFault?) throws(StoreError) {
        let bytes = try StoreFile.contents(of: path)
        guard bytes.count >= Self.headByteCount, bytes.starts(with: Self.magic) else {
            throw StoreError(.notAStore, "'\(path)' is not an appended file.")
        }
        identity = Self.number(at: Self.magic.count, in: bytes)
        byteCount = Self.headByteCount
        while let frame = frame(at: byteCount, in: bytes), frame.commit == commit + 1 {
            if fault == .forgetsAllCommits, commit > 0, isDamaged(bytes, after: frame.payload.upperBound) { break }
            apply(bytes[frame.payload])
            (byteCount, commit) = (frame.payload.upperBound, frame.commit)
        }
        if byteCount < bytes.count, fault != .forgetsAllCommits { try readDamage(in: bytes, at: path, fault: fault) }
        guard byteCount > Self.headByteCount else {
            throw StoreError(.corrupted, "'\(path)' has no whole commit; restore a backup.")
        }
    }

    /// Returns whether a frame after a position is damaged.
    private func isDamaged(_ bytes: [UInt8], after start: Int) -> Bool {
        var position = start
        while position < bytes.count {
            guard let frame = frame(at: position, in: bytes) else { return true }
            position = frame.payload.upperBound
        }
        return false
    }

    /// Throws if a whole commit follows the damage.
    ///
    /// With two of the faults, the bytes after the damage are ignored or applied instead.
    private mutating func readDamage(in bytes: [UInt8], at path: String, fault: AppendedFileFault?) throws(StoreError) {
        if fault == .stopsAtDamage { return }
        if fault == .readsHalfCommits { return apply(bytes[min(bytes.count, byteCount + Self.frameHeadByteCount)...]) }
        for start in byteCount..<bytes.count {
            guard frame(at: start, in: bytes) == nil else {
                throw StoreError(.corrupted, "'\(path)' is damaged at byte \(byteCount), before a later commit.")
            }
        }
    }

    private mutating func apply(_ payload: ArraySlice<UInt8>) {
        var rest = payload
        func take(_ count: UInt64) -> [UInt8]? {
            guard count <= UInt64(rest.count) else { return nil }
            defer { rest = rest.dropFirst(Int(count)) }
            return Array(rest.prefix(Int(count)))
        }
        while rest.count >= 10 {
            guard let kind = take(2), KeySpace.allCases.indices.contains(Int(kind[0])), let keyCount = take(8),
                let key = take(Self.number(at: 0, in: keyCount)), let valueCount = take(8),
                let value = take(Self.number(at: 0, in: valueCount))
            else { return }
            set(key, kind[1] == 0 ? nil : value, in: KeySpace.allCases[Int(kind[0])])
        }
    }
}

/// A storage in an appended file; only one storage at a time can have the file open for writing.
final class AppendedFileStorage: OrderedKeyValueStorage {
    let maximumKeyByteCount = 511
    private let path: String
    private let isReadOnly: Bool
    private let lock: StoreLock?
    private let latest: Mutex<AppendedFile?>
    private let place: WriterGate

    init(at path: String, isNew: Bool, options: StoreOptions, fault: AppendedFileFault?) throws(StoreError) {
        (self.path, isReadOnly) = (StoreFile.resolvingLink(path), options.isReadOnly)
        if !isNew { _ = try AppendedFile(at: path, fault: fault) }
        // A reader needs no lock, because it has the whole file in memory.
        lock =
            options.isReadOnly
            ? nil
            : try StoreLock.acquire(
                forStoreAt: path, mode: options.isUnpublished ? .shared : .exclusive,
                timeoutSeconds: options.timeoutSeconds)
        let file = isNew ? AppendedFile() : try AppendedFile(at: path, fault: fault)
        latest = Mutex(file)
        place = WriterGate()
        let size = isNew ? 0 : try StoreFile.byteCount(at: path)
        // A torn end is removed before a commit is appended.
        if !isNew, !isReadOnly, size > file.byteCount, fault != .appendsToTornEnd {
            try Self.withFile(path) { try $0.truncate(atOffset: UInt64(file.byteCount)) }
        }
    }

    private static func withFile(_ path: String, _ body: (FileHandle) throws -> Void) throws(StoreError) {
        do {
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            try body(handle)
            try handle.synchronize()
        } catch {
            throw StoreError(.ioFailure, "'\(path)' could not be written.", underlying: error)
        }
    }

    func read() throws(StoreError) -> any KeyValueReader { AppendedFileTransaction(try current()) }

    func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        guard !isReadOnly else { throw StoreError(.readOnly, "'\(path)' was opened read-only; open it for writing.") }
        try place.enter(timeoutSeconds: timeoutSeconds)
        do throws(StoreError) { return AppendedFileTransaction(try current(), storage: self) } catch {
            place.leave()
            throw error
        }
    }

    func sync() throws(StoreError) {}
    func byteCount() throws(StoreError) -> Int { try StoreFile.byteCount(at: path) }
    func integrityFindings() throws(StoreError) -> [StoreFinding] { [] }

    func close() throws(StoreError) {
        latest.withLock { $0 = nil }
        lock?.release()
    }

    private func current() throws(StoreError) -> AppendedFile {
        guard let known = latest.withLock({ $0 }) else { throw StoreError(.closed, "'\(path)' was closed before.") }
        return known
    }

    fileprivate func commit(to file: AppendedFile, frame: [UInt8]) throws(StoreError) {
        let known = try current()
        if known.byteCount == AppendedFile.headByteCount {
            try StoreFile.write(file.head + frame, as: path, overwriting: false)
        } else {
            guard StoreFile.read(prefix: AppendedFile.headByteCount, of: path) == known.head else {
                throw StoreError(.storeReplaced, "Another store is at '\(path)'; close this and open that.")
            }
            try Self.withFile(path) { handle in
                try handle.seekToEnd()
                try handle.write(contentsOf: Data(frame))
            }
        }
        latest.withLock { if $0 != nil { $0 = file } }
    }

    fileprivate func end() { place.leave() }
}

/// A lock that admits one writer at a time.
final class WriterGate: Sendable {
    private let isTaken = Mutex(false)

    func enter(timeoutSeconds: Double) throws(StoreError) {
        let deadline = Date().addingTimeInterval(timeoutSeconds)
        while !isTaken.withLock({ isTaken in
            defer { isTaken = true }
            return !isTaken
        }) {
            guard Date() < deadline else { throw StoreError(.busy, "Another writer is at work; try again later.") }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    func leave() { isTaken.withLock { $0 = false } }
}

/// A view of the file at one commit or, with a storage, a write transaction.
private final class AppendedFileTransaction: KeyValueWriter, KeyValueLongWrite {
    private(set) var file: AppendedFile
    private let storage: AppendedFileStorage?
    private var entries: [(space: KeySpace, key: [UInt8], value: [UInt8]?)] = []
    private var (isOpen, hasFailed) = (true, false)

    init(_ file: AppendedFile, storage: AppendedFileStorage? = nil) { (self.file, self.storage) = (file, storage) }

    deinit { abort() }

    func close() { isOpen = isOpen && storage != nil }

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

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor { AppendedFileCursor(self, in: space) }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try requireOpen()
        guard (1...511).contains(key.count) else { throw StoreError(.limitExceeded, "A key has 1 to 511 bytes.") }
        file.set(Array(key), Array(value), in: space)
        entries.append((space, Array(key), Array(value)))
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        guard file.find(key, in: space).position == file[space].count else {
            throw StoreError(.invalidRequest, "A key was appended to '\(space)' that does not come after all others.")
        }
        try put(key, value, in: space)
    }

    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        try requireOpen()
        guard file.find(key, in: space).exists else { return false }
        file.set(Array(key), nil, in: space)
        entries.append((space, Array(key), nil))
        return true
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
        if !entries.isEmpty {
            let frame = file.append(entries)
            try storage?.commit(to: file, frame: frame)
        }
        abort()
    }

    func abort() {
        if isOpen, let storage { storage.end() }
        isOpen = false
    }

    private func requireUsable() throws(StoreError) {
        try requireOpen()
        guard !hasFailed else { throw StoreError(.closed, "The write transaction failed before; abort it.") }
    }
}

/// A position in a space, identified by its key.
private final class AppendedFileCursor: KeyValueCursor {
    private let view: AppendedFileTransaction
    private let space: KeySpace
    private let (shownKey, shownValue) = (PinnedBytes(), PinnedBytes())
    private var isAtEnd = false

    init(_ view: AppendedFileTransaction, in space: KeySpace) { (self.view, self.space) = (view, space) }

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

/// Stores in appended files, sound or with a fault.
struct AppendedFileStoreType: FileStoreType {
    var fault: AppendedFileFault?

    var name: String { "appended" }
    var capabilities: StoreCapabilities {
        StoreCapabilities(.writing, .totalOrder, .persistence, .digest, .uniquenessConstraints, .fetchIndexes, .file)
    }

    func recognizes(fileAt path: String) -> Bool {
        StoreFile.read(prefix: AppendedFile.magic.count, of: path) == AppendedFile.magic
    }

    func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
        try requireKnown(options.typeOptions)
        try options.requireValidTimeout()
        try StoreFile.requireRegularFile(at: location.path, forWriting: !options.isReadOnly)
        let storage = try AppendedFileStorage(at: location.path, isNew: false, options: options, fault: fault)
        if !options.isReadOnly { StoreFile.sweepTemporarySiblings(of: location.path) }
        return try KeyValueStore(opening: storage, type: self, location: location, options: options)
    }

    func createUnpublished(
        _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
    ) throws(StoreError) -> any PersistentStore {
        try StoreFile.requireAbsent(at: location.path)
        let storage = try AppendedFileStorage(at: location.path, isNew: true, options: options, fault: fault)
        return try KeyValueStore(creating: storage, type: self, location: location, model: model, options: options)
    }
}
