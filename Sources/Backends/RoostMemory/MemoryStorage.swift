internal import Dispatch
package import RoostCore
package import RoostKeyValue

/// The state shared by all open instances of one in-memory store: the committed trees and the
/// writer lock.
final class MemoryContents: Sendable {
    /// The trees after one commit.
    struct Version: Sendable {
        /// The trees, indexed by the position of their space.
        var trees: [Tree] = KeySpace.allCases.map { _ in Tree() }
        /// The number of the next transaction.
        ///
        /// Nodes of earlier transactions are immutable.
        var nextTransaction: UInt64 = 1
    }

    /// The maximum length of a key, which equals LMDB's limit.
    static let maximumKeyByteCount = 511
    /// The maximum size of a value, which equals the limit of ``KeyValueWriter``.
    static let maximumValueByteCount = 1 << 30

    private static let lastNumber = Mutex<UInt64>(0)

    /// The identity of the contents as a commit signal, unique in the process.
    let id: CommitSignalID
    private let version = Mutex(Version())
    private let writersPlace = DispatchSemaphore(value: 1)

    init() {
        let number = Self.lastNumber.withLock { number in
            number += 1
            return number
        }
        // No file has this device number. PostgreSQL's signals use `.max`.
        id = CommitSignalID(device: .max - 1, inode: number)
    }

    /// The committed state, read in O(1).
    var current: Version { version.withLock { $0 } }

    /// Waits for the writer lock, or throws `busy` after the timeout.
    func beginWriting(timeoutSeconds: Double) throws(StoreError) -> MemoryWriter {
        let seconds = timeoutSeconds.isNaN ? 0 : min(max(0, timeoutSeconds), 1_000_000)
        guard writersPlace.wait(timeout: .now() + seconds) == .success else {
            throw StoreError(
                .busy,
                "Another writer of the store in memory was not finished within \(timeoutSeconds) seconds. Try again.")
        }
        // The number is used up even if the transaction is aborted later. Otherwise a later
        // transaction could get the same number and so own the nodes of the aborted one.
        let start = version.withLock { version in
            defer { version.nextTransaction += 1 }
            return version
        }
        return MemoryWriter(trees: start.trees, transaction: start.nextTransaction)
    }

    func commit(_ writer: MemoryWriter) {
        let trees = writer.end()
        version.withLock { $0.trees = trees }
        writersPlace.signal()
    }

    func abort(_ writer: MemoryWriter) {
        _ = writer.end()
        writersPlace.signal()
    }
}

extension MemoryContents: CommitSignal {
    /// Empty, because the signal is not a file.
    var path: String { "" }

    /// Does nothing, because other processes cannot open the store.
    ///
    /// In this process, all open instances share a `CommitFeed`, which reports the commits.
    func raise() {}
}

/// Ordered key-value storage in memory: a copy-on-write B+tree for each space.
///
/// Taking a snapshot costs O(1) and never waits. Writers wait for each other.
///
/// The contents exist only in this process. Any thread may use the storage.
package final class MemoryStorage: OrderedKeyValueStorage, CommitSignaling {
    let contents: MemoryContents
    private let isClosed = Mutex(false)
    private let onClose: @Sendable () -> Void

    /// Creates an empty storage that is not shared.
    package convenience init() { self.init(contents: MemoryContents()) }

    init(contents: MemoryContents, onClose: @escaping @Sendable () -> Void = {}) {
        self.contents = contents
        self.onClose = onClose
    }

    deinit { markClosed() }

    /// The signal that all open instances of the store share.
    package var commitSignal: (any CommitSignal)? { contents }

    /// The maximum size of a key: 511 bytes.
    package var maximumKeyByteCount: Int { Self.maximumKeyByteCount }
    /// The maximum size of a key: 511 bytes.
    package static var maximumKeyByteCount: Int { MemoryContents.maximumKeyByteCount }

    /// Always true, because only this process can access the pages, and no page changes after its
    /// transaction.
    package var holdsCheckedMemory: Bool { true }

    /// Returns a consistent view in O(1).
    package func read() throws(StoreError) -> any KeyValueReader {
        try requireOpen()
        return MemoryReader(trees: contents.current.trees)
    }
    package func beginLongWrite(timeoutSeconds: Double) throws(StoreError) -> any KeyValueLongWrite {
        try requireOpen()
        return MemoryLongWrite(contents, writer: try contents.beginWriting(timeoutSeconds: timeoutSeconds))
    }

    /// Does nothing, because memory is not durable.
    package func sync() throws(StoreError) { try requireOpen() }

    /// Returns the number of bytes that the committed trees use, in O(pages).
    package func byteCount() throws(StoreError) -> Int {
        try requireOpen()
        return contents.current.trees.reduce(0) { $0 + $1.byteCount }
    }

    /// Checks the key order, separators, depth and entry count of each tree.
    package func integrityFindings() throws(StoreError) -> [StoreFinding] {
        try requireOpen()
        let trees = contents.current.trees
        return KeySpace.allCases.flatMap { space in
            trees[space.position].problems().map {
                StoreFinding(.damage, message: "In the tree of space '\(space)', \($0).")
            }
        }
    }

    /// Closes this instance of the store.
    ///
    /// The contents remain while the store has a name or another instance of it is open.
    package func close() throws(StoreError) { markClosed() }

    private func markClosed() {
        let wasClosed = isClosed.withLock { closed in
            defer { closed = true }
            return closed
        }
        if !wasClosed { onClose() }
    }

    private func requireOpen() throws(StoreError) {
        if isClosed.withLock({ $0 }) { throw StoreError(.closed, "The storage in memory was closed.") }
    }
}
