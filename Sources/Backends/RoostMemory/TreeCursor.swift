internal import RoostCore
internal import RoostKeyValue

/// The source of a cursor's tree: the tree of one space, in its current state.
protocol TreeSource: AnyObject {
    /// The tree of a space; throws code `closed` after the end of the view or the transaction.
    func tree(_ space: KeySpace) throws(StoreError) -> Tree
    /// Throws code `closed` after the end of the view or the transaction.
    func requireOpen() throws(StoreError)
}

/// A position in a tree: the way from the root to an entry.
///
/// It keeps the pages on it alive.
///
/// Every ``seek(to:)`` gets the current tree. In a write transaction, ``park()`` is called before a
/// change, which may move pages under the position. The next move finds the position again by its
/// key.
final class TreeCursor: KeyValueCursor {
    private let source: any TreeSource
    private let space: KeySpace
    /// The inner pages above the leaf, each with the position of the child that was taken.
    private var path: [(node: TreeNode, index: Int)] = []
    /// The page of the entry, and its position there; nil at the end, before the start, and while
    /// parked.
    private var leaf: TreeNode?
    private var index = 0
    private var hasStarted = false
    private var parkedKey: [UInt8]?

    /// The key at the position; empty at the end.
    private(set) var key = EmptyBytes.buffer
    /// The value at the position; empty at the end.
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
        // How many of the page's entries, or children, are before the key.
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
        // A cursor of a closed view must throw rather than continue.
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

    /// Shows the entries of the cursor's leaf from its position on; returns false when `body` did.
    private func show(
        _ leaf: TreeNode, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let (entries, above) = (leaf.entries, path.last)
        if let above { above.node.prepareChild(above.index + 1) }
        var position = index
        // Noted once, and not for every entry.
        defer {
            index = position
            (key, value) = entries[position]
        }
        while true {
            // The records of a scan are mostly not in the processor's cache, so a few are
            // prefetched while one is examined.
            entries.prepare(position + 6)
            if position == entries.count - 8, let above { above.node.prepareEntriesOfChild(above.index + 1) }
            let (key, value) = entries[position]
            guard try body(key, value) else { return false }
            guard position < entries.count - 1 else { return true }
            position += 1
        }
    }

    /// Remembers the position by its key.
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

    /// Moves to an entry of a leaf; past its last entry, to the first entry of the next leaf that
    /// has any.
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
