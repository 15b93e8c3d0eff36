internal import RoostCore

/// An ordered map of bytes to bytes: a B+tree whose pages are copied on write.
///
/// Copying a tree costs O(1). Later changes of the original do not change the copy.
struct Tree: Sendable {
    private(set) var root: TreeNode
    private(set) var count = 0
    /// The last leaf if the latest change appended to it; otherwise nil.
    private var appendedLeaf: TreeNode?
    /// The leaf that was changed last, if it is still part of the tree.
    ///
    /// If keys come in ascending order, most of them belong to this leaf.
    private var changedLeaf: TreeNode?

    init() { root = TreeNode(transaction: 0, isLeaf: true, capacity: 0) }

    // MARK: Reading

    func withValue(
        of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) {
        let leaf = changedLeaf.flatMap { $0.spans(key) ? $0 : nil } ?? root.leaf(of: key)
        let (index, isFound) = leaf.position(of: key)
        try body(isFound ? leaf.entry(at: index).value : nil)
    }

    /// Returns whether `key` comes after all keys of the tree.
    func isPastEnd(_ key: UnsafeRawBufferPointer) -> Bool {
        var node = root
        while !node.isLeaf, let last = node.children.last { node = last }
        return node.count == 0 || TreeNode.order(node.key(at: node.count - 1), key) < 0
    }

    // MARK: Changing

    /// Appends an entry, or returns false without a change if the key does not come after all
    /// others.
    ///
    /// Successive entries go directly into the last leaf while it has room.
    mutating func append(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, transaction: UInt64
    ) -> Bool {
        if let leaf = appendedLeaf, leaf.transaction == transaction, leaf.hasRoom(for: key.count + value.count) {
            guard TreeNode.order(leaf.key(at: leaf.count - 1), key) < 0 else { return false }
            leaf.insert(key, value: value, at: leaf.count)
            count += 1
            return true
        }
        guard isPastEnd(key) else { return false }
        putFromRoot(key, value: value, transaction: transaction)
        var node = root
        while !node.isLeaf, let last = node.children.last { node = last }
        appendedLeaf = node
        return true
    }

    mutating func put(_ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, transaction: UInt64) {
        if !putNearby(key, value: value, transaction: transaction) {
            putFromRoot(key, value: value, transaction: transaction)
        }
    }

    /// Adds an entry; returns false without a change if the key exists.
    mutating func insert(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, transaction: UInt64
    ) -> Bool {
        if append(key, value: value, transaction: transaction) { return true }
        guard !root.leaf(of: key).position(of: key).isFound else { return false }
        put(key, value: value, transaction: transaction)
        return true
    }

    /// Sets the value of a key in the leaf that was changed last.
    ///
    /// Returns false without a change if the key does not belong there or the value does not fit.
    private mutating func putNearby(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, transaction: UInt64
    ) -> Bool {
        guard let leaf = changedLeaf, leaf.transaction == transaction, leaf.spans(key) else { return false }
        let (index, isFound) = leaf.position(of: key)
        // The whole new entry must fit, even if it replaces another one.
        guard leaf.hasRoom(for: key.count + value.count) else { return false }
        if isFound {
            leaf.replaceValue(at: index, value: value)
        } else {
            leaf.insert(key, value: value, at: index)
            count += 1
        }
        appendedLeaf = nil
        return true
    }

    private mutating func putFromRoot(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, transaction: UInt64
    ) {
        (appendedLeaf, changedLeaf) = (nil, nil)
        root = own(root, transaction: transaction)
        guard let right = put(key, value: value, into: root, transaction: transaction, isLast: true) else { return }
        let top = TreeNode(transaction: transaction, isLeaf: false)
        for child in [root, right] {
            top.insert(child.key(at: 0), value: EmptyBytes.buffer, at: top.count, child: child)
        }
        root = top
    }

    /// Removes a key, and returns whether it existed.
    mutating func remove(_ key: UnsafeRawBufferPointer, transaction: UInt64) -> Bool {
        appendedLeaf = nil
        if let leaf = changedLeaf, leaf.transaction == transaction, leaf.spans(key) {
            let (index, isFound) = leaf.position(of: key)
            guard isFound else { return false }
            if leaf.canSpare(index) {
                leaf.remove(at: index)
                count -= 1
                return true
            }
        }
        changedLeaf = nil
        // The look-up comes first, so that no pages are copied for a missing key.
        guard root.leaf(of: key).position(of: key).isFound else { return false }
        root = own(root, transaction: transaction)
        remove(key, from: root, transaction: transaction)
        while !root.isLeaf, root.count == 1 { root = root.children[0] }
        if !root.isLeaf, root.count == 0 { root = TreeNode(transaction: transaction, isLeaf: true) }
        count -= 1
        return true
    }

    /// Clears the references to the leaves that changed last, which readers do not need.
    mutating func forgetPlaces() { (appendedLeaf, changedLeaf) = (nil, nil) }

    /// Returns the node itself if the transaction created it; otherwise returns a copy to change.
    private func own(_ node: TreeNode, transaction: UInt64) -> TreeNode {
        node.transaction == transaction ? node : node.copy(for: transaction)
    }

    /// Puts an entry into the subtree of a node that the transaction owns.
    ///
    /// Returns the new right page if the node was split.
    private mutating func put(
        _ key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, into node: TreeNode, transaction: UInt64,
        isLast: Bool
    ) -> TreeNode? {
        if node.isLeaf {
            let (index, isFound) = node.position(of: key)
            if isFound {
                node.replaceValue(at: index, value: value)
            } else {
                node.insert(key, value: value, at: index)
                count += 1
            }
            let right = split(
                node, transaction: transaction, isAppending: isLast && !isFound && index == node.count - 1)
            changedLeaf = right ?? node
            return right
        }
        let index = node.childPosition(of: key)
        let child = own(node.children[index], transaction: transaction)
        node.setChild(child, at: index)
        let isLast = isLast && index == node.count - 1
        if let right = put(key, value: value, into: child, transaction: transaction, isLast: isLast) {
            node.insert(right.key(at: 0), value: EmptyBytes.buffer, at: index + 1, child: right)
            return split(node, transaction: transaction, isAppending: isLast)
        }
        return nil
    }

    /// Splits a page if it is too large, and returns the new right page, or nil.
    ///
    /// After an append, only the last entry moves to the right page, so the left page stays full.
    /// Otherwise an inner page is split at its middle entry, and a leaf into two parts of similar
    /// size in bytes. So no leaf keeps two values that are each much larger than a page.
    private func split(_ node: TreeNode, transaction: UInt64, isAppending: Bool) -> TreeNode? {
        guard node.isOverfull else { return nil }
        var cut = node.count - 1
        if !isAppending {
            var (index, bytes) = (0, 0)
            while index < node.count - 1 {
                let next = bytes + node.byteCount(at: index)
                // Move the cut while that makes the two sides more equal.
                guard node.liveByteCount - bytes > next else { break }
                (index, bytes) = (index + 1, next)
            }
            cut = max(1, node.isLeaf ? index : node.count / 2)
        }
        let right = TreeNode(transaction: transaction, isLeaf: node.isLeaf, capacity: TreeNode.pageBytes)
        right.appendEntries(of: node, range: cut..<node.count)
        node.truncate(to: cut)
        return right
    }

    /// Removes an existing key from the subtree of a node that the transaction owns.
    private mutating func remove(_ key: UnsafeRawBufferPointer, from node: TreeNode, transaction: UInt64) {
        if node.isLeaf {
            let (index, isFound) = node.position(of: key)
            if isFound { node.remove(at: index) }
            changedLeaf = node
            return
        }
        let index = node.childPosition(of: key)
        let child = own(node.children[index], transaction: transaction)
        node.setChild(child, at: index)
        remove(key, from: child, transaction: transaction)
        if child.count == 0 {
            changedLeaf = nil
            node.remove(at: index)
        } else if child.isUnderfull, node.count > 1 {
            changedLeaf = nil
            merge(node, at: index > 0 ? index - 1 : index, transaction: transaction)
        }
    }

    /// Merges the children at `index` and `index + 1` if both together fit into three quarters of a
    /// page.
    private func merge(_ node: TreeNode, at index: Int, transaction: UInt64) {
        let (left, right) = (node.children[index], node.children[index + 1])
        guard left.liveByteCount + right.liveByteCount <= TreeNode.capacityBytes * 3 / 4,
            left.children.count + right.children.count <= TreeNode.capacityChildren * 3 / 4
        else { return }
        let merged = own(left, transaction: transaction)
        if right.isLeaf {
            merged.appendEntries(of: right, range: 0..<right.count)
        } else {
            // The first key of an inner page is not a lower bound for its child. So the first child
            // of `right` gets the key that `right` has in `node`.
            merged.insert(node.key(at: index + 1), value: EmptyBytes.buffer, at: merged.count, child: right.children[0])
            merged.appendEntries(of: right, range: 1..<right.count)
        }
        node.setChild(merged, at: index)
        node.remove(at: index + 1)
    }

    // MARK: Checking the whole tree

    /// The memory that all pages use, computed in O(pages).
    var byteCount: Int {
        var (total, open) = (0, [root])
        while let node = open.popLast() {
            total += node.byteCount
            open += node.children
        }
        return total
    }

    /// Returns descriptions of wrong key orders, separators, depths and counts.
    func problems() -> [String] {
        var problems: [String] = []
        var (entries, leafDepth): (Int, Int?) = (0, nil)
        var previous: [UInt8]?
        func walk(_ node: TreeNode, depth: Int, notBefore: [UInt8]?) {
            if node.isLeaf {
                if leafDepth.map({ $0 != depth }) ?? false { problems.append("leaves are at different depths") }
                leafDepth = depth
                entries += node.count
            } else if node.children.count != node.count || node.count == 0 {
                problems.append("a page has \(node.count) keys and \(node.children.count) children")
                return
            }
            for index in 0..<node.count {
                let key = Array(node.key(at: index))
                if node.isLeaf {
                    if let previous, !previous.lexicographicallyPrecedes(key) {
                        problems.append("keys are out of order")
                    }
                    // The first key of an inner page is not a lower bound: its child can contain
                    // smaller keys.
                    if let notBefore, key.lexicographicallyPrecedes(notBefore) {
                        problems.append("a key is before the separator above it")
                    }
                    previous = key
                } else {
                    walk(node.children[index], depth: depth + 1, notBefore: index == 0 ? notBefore : key)
                }
            }
        }
        walk(root, depth: 0, notBefore: nil)
        if entries != count { problems.append("\(entries) entries are there and \(count) were counted") }
        return problems
    }
}
