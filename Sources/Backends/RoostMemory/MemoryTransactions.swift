internal import RoostCore
internal import RoostKeyValue

/// A view of the trees after one commit.
final class MemoryReader: KeyValueReader, TreeSource {
    private var trees: [Tree]?

    init(trees: [Tree]) { self.trees = trees }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try tree(space).withValue(of: key, body)
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        _ = try tree(space)
        return TreeCursor(self, space: space)
    }

    func close() { trees = nil }

    func tree(_ space: KeySpace) throws(StoreError) -> Tree {
        guard let trees else { throw closed }
        return trees[space.position]
    }

    func requireOpen() throws(StoreError) {
        if trees == nil { throw closed }
    }

    private var closed: StoreError { StoreError(.closed, "The view of the storage was closed.") }
}

/// A write transaction on copies of the trees.
final class MemoryWriter: KeyValueWriter, TreeSource {
    private var trees: [Tree]
    private var isOver = false
    private let transaction: UInt64
    private var cursors: [WeakCursor] = []

    private struct WeakCursor { weak var cursor: TreeCursor? }

    init(trees: [Tree], transaction: UInt64) {
        self.trees = trees
        self.transaction = transaction
    }

    func end() -> [Tree] {
        parkCursors()
        isOver = true
        for index in trees.indices { trees[index].forgetPlaces() }
        return trees
    }

    func withValue(
        of key: UnsafeRawBufferPointer, in space: KeySpace,
        _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        try tree(space).withValue(of: key, body)
    }

    func cursor(in space: KeySpace) throws(StoreError) -> any KeyValueCursor {
        _ = try tree(space)
        let cursor = TreeCursor(self, space: space)
        cursors.removeAll { $0.cursor == nil }
        cursors.append(WeakCursor(cursor: cursor))
        return cursor
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try requireSizes(key, value: value)
        try change(space) { $0.put(key, value: value, transaction: transaction) }
    }

    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace
    ) throws(StoreError) -> Bool {
        try requireSizes(key, value: value)
        return try change(space) { $0.insert(key, value: value, transaction: transaction) }
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) {
        try requireSizes(key, value: value)
        guard try change(space, { $0.append(key, value: value, transaction: transaction) }) else {
            throw StoreError(
                .invalidRequest, "Cannot append a key to space '\(space)': the key does not come after all others.")
        }
    }

    func delete(_ key: UnsafeRawBufferPointer, in space: KeySpace) throws(StoreError) -> Bool {
        try change(space) { $0.remove(key, transaction: transaction) }
    }

    /// Does nothing: the transaction ends with the commit or abort of its ``MemoryLongWrite``.
    func close() {}

    private func change<Result>(_ space: KeySpace, _ body: (inout Tree) -> Result) throws(StoreError) -> Result {
        parkCursors()
        try requireOpen()
        return body(&trees[space.position])
    }

    private func parkCursors() {
        guard !cursors.isEmpty else { return }
        var hasGone = false
        for weak in cursors {
            if let cursor = weak.cursor { cursor.park() } else { hasGone = true }
        }
        if hasGone { cursors.removeAll { $0.cursor == nil } }
    }

    private func requireSizes(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) {
        guard (1...MemoryContents.maximumKeyByteCount).contains(key.count) else {
            throw StoreError(
                .limitExceeded,
                "A key of \(key.count) bytes cannot be stored; keys have 1 to \(MemoryContents.maximumKeyByteCount).")
        }
        guard value.count <= MemoryContents.maximumValueByteCount else {
            throw StoreError(
                .limitExceeded,
                "A value of \(value.count) bytes cannot be stored; values have up to \(MemoryContents.maximumValueByteCount)."
            )
        }
    }

    func tree(_ space: KeySpace) throws(StoreError) -> Tree {
        try requireOpen()
        return trees[space.position]
    }

    func requireOpen() throws(StoreError) {
        if isOver { throw StoreError(.closed, "The write transaction is over.") }
    }
}

/// A write transaction that spans several calls.
final class MemoryLongWrite: KeyValueLongWrite {
    private let contents: MemoryContents
    private var writer: MemoryWriter?
    private var hasFailed = false

    init(_ contents: MemoryContents, writer: MemoryWriter) {
        self.contents = contents
        self.writer = writer
    }

    deinit { abort() }

    func perform<Result: Sendable>(
        _ body: @Sendable (any KeyValueWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let writer = try usableWriter()
        do throws(StoreError) {
            return try body(writer)
        } catch {
            hasFailed = true
            throw error
        }
    }

    func commit() throws(StoreError) {
        let writer = try usableWriter()
        self.writer = nil
        contents.commit(writer)
    }

    func abort() {
        guard let writer else { return }
        self.writer = nil
        contents.abort(writer)
    }

    private func usableWriter() throws(StoreError) -> MemoryWriter {
        guard let writer, !hasFailed else {
            throw StoreError(.closed, "The write transaction was committed, aborted, or failed before.")
        }
        return writer
    }
}
