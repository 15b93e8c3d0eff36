internal import RoostCore
internal import RoostKeyValue

/// A position in a tree: the way from the root to an entry.
///
/// It keeps the pages on it alive.
///
/// The tree is asked for anew by every ``seek(to:)``. In a write transaction, ``park()`` is called before a change, which may move
/// pages under the position; the next move finds the place again by its key.
final class TreeCursor: KeyValueCursor {
    private let tree: () throws(StoreError) -> Tree
    private let requireOpen: () throws(StoreError) -> Void
    /// The inner pages above the leaf, each with the position of the child that was taken.
    private var path: [(node: TreeNode, index: Int)] = []
    /// The page of the entry, and its position there; nil at the end, before the start, and while parked.
    private var leaf: TreeNode?
    private var index = 0
    private var hasStarted = false
    private var parkedKey: [UInt8]?

    /// The key at the position; empty at the end.
    private(set) var key = EmptyBytes.buffer
    /// The value at the position; empty at the end.
    private(set) var value = EmptyBytes.buffer

    /// A cursor over what `tree` gives, as long as `requireOpen` does not throw.
    init(
        _ tree: @escaping () throws(StoreError) -> Tree, requireOpen: @escaping () throws(StoreError) -> Void
    ) {
        self.tree = tree
        self.requireOpen = requireOpen
    }

    func seek(to key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        let tree = try tree()
        hasStarted = true
        parkedKey = nil
        path.removeAll(keepingCapacity: true)
        var node = tree.root
        while !node.isLeaf {
            let index = node.childPosition(of: key)
            path.append((node, index))
            node = node.children[index]
        }
        return settle(node, node.position(of: key).index)
    }

    func next() throws(StoreError) -> Bool {
        // A view that was closed must say so rather than go on.
        try requireOpen()
        if let leaf { return settle(leaf, index + 1) }
        if let parked = parkedKey {
            let isThere = try parked.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
                try seek(to: bytes) && TreeNode.order(key, bytes) == 0
            }
            guard isThere, let leaf else { return leaf != nil }
            return settle(leaf, index + 1)
        }
        return hasStarted ? false : try seek(to: EmptyBytes.buffer)
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

    /// Stands at an entry of a leaf, or of the next one that has any where the position is behind the last.
    private func settle(_ start: TreeNode, _ position: Int) -> Bool {
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
