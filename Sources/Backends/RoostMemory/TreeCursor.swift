internal import RoostCore
internal import RoostKeyValue

/// The owner of the trees that cursors read.
protocol TreeSource: AnyObject {
    /// Returns the tree of a space; throws `closed` after the end of the view or the transaction.
    func tree(_ space: KeySpace) throws(StoreError) -> Tree
    /// Throws `closed` after the end of the view or the transaction.
    func requireOpen() throws(StoreError)
}

/// A position in a tree: the path from the root to an entry.
///
/// The cursor keeps the pages of its path alive.
///
/// Every ``seek(to:)`` reads the current tree. A write transaction calls ``park()`` before each
/// change, because a change may move entries to other pages. The next move then searches for the
/// key again.
final class TreeCursor: KeyValueCursor {
    private let source: any TreeSource
    private let space: KeySpace
    /// The inner pages above the leaf, each with the position of the child on the path.
    private var path: [(node: TreeNode, index: Int)] = []
    /// The leaf that contains the current entry, at the position `index`.
    ///
    /// Nil before the first move, after a move that found no entry, and while the cursor is parked.
    private var leaf: TreeNode?
    private var index = 0
    private var hasStarted = false
    private var parkedKey: [UInt8]?

    private(set) var key = EmptyBytes.buffer
    private(set) var value = EmptyBytes.buffer

    init(_ source: any TreeSource, space: KeySpace) {
        self.source = source
        self.space = space
    }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        let tree = try source.tree(space)
        hasStarted = true
        parkedKey = nil
        path.removeAll(keepingCapacity: true)
        var node = tree.root
        while !node.isLeaf {
            let index = node.childPosition(of: key)
            path.append((node, index))
            node = node.children[index]
        }
        return settle(node, position: node.position(of: key).index)
    }

    func seek(before key: UnsafeRawBufferPointer?) throws(StoreError) -> Bool {
        let tree = try source.tree(space)
        hasStarted = true
        parkedKey = nil
        path.removeAll(keepingCapacity: true)
        var node = tree.root
        while !node.isLeaf {
            let index = key.map { node.childPosition(of: $0) } ?? node.count - 1
            path.append((node, index))
            node = node.children[index]
        }
        var position = key.map { node.position(of: $0).index } ?? node.count
        while position == 0 {
            guard let above = path.popLast() else {
                leave()
                return false
            }
            (node, position) = (above.node, above.index)
            while !node.isLeaf, position > 0 {
                path.append((node, position - 1))
                node = node.children[position - 1]
                position = node.count
            }
        }
        return settle(node, position: position - 1)
    }

    func next() throws(StoreError) -> Bool {
        // `next` must throw after the end of the view or transaction.
        try source.requireOpen()
        if let leaf { return settle(leaf, position: index + 1) }
        if let parked = parkedKey {
            let exists = try parked.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                try seek(to: bytes) && TreeNode.order(key, bytes) == 0
            }
            guard exists, let leaf else { return leaf != nil }
            return settle(leaf, position: index + 1)
        }
        return hasStarted ? false : try seek(to: EmptyBytes.buffer)
    }

    func visit(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        try source.requireOpen()
        if let parkedKey {
            _ = try parkedKey.span.bytes.withUnsafeBytes { (key) throws(StoreError) in try seek(to: key) }
        }
        while let leaf {
            guard try show(leaf, body) else { return true }
            _ = settle(leaf, position: leaf.count)
        }
        return false
    }

    /// Calls `body` for the entries of the leaf from the current position on, while it returns
    /// true.
    ///
    /// Returns whether `body` returned true for all of them.
    private func show(
        _ leaf: TreeNode, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let (entries, above) = (leaf.entries, path.last)
        if let above { above.node.prepareChild(above.index + 1) }
        var position = index
        // Setting the properties once, after the loop, saves time.
        defer {
            index = position
            (key, value) = entries[position]
        }
        while true {
            // A scan's records are mostly not in the processor's cache, so later ones are
            // prefetched.
            entries.prepare(position + 6)
            if position == entries.count - 8, let above { above.node.prepareEntriesOfChild(above.index + 1) }
            let (key, value) = entries[position]
            guard try body(key, value) else { return false }
            guard position < entries.count - 1 else { return true }
            position += 1
        }
    }

    /// Stores the key of the current entry and releases the pages of the path.
    func park() {
        guard leaf != nil else { return }
        parkedKey = Array(key)
        leave()
    }

    private func leave() {
        leaf = nil
        path.removeAll(keepingCapacity: true)
        (key, value) = (EmptyBytes.buffer, EmptyBytes.buffer)
    }

    /// Moves to an entry of a leaf, or to the first entry after the leaf if `position` is the
    /// leaf's end.
    ///
    /// Returns false at the end of the tree.
    private func settle(_ start: TreeNode, position: Int) -> Bool {
        var (node, position) = (start, position)
        while position >= node.count {
            guard let above = path.popLast() else {
                leave()
                return false
            }
            (node, position) = (above.node, above.index + 1)
            while !node.isLeaf, position < node.count {
                path.append((node, position))
                (node, position) = (node.children[position], 0)
            }
        }
        leaf = node
        index = position
        (key, value) = node.entry(at: position)
        return true
    }
}
