/// The guarantees of a file system for names that were not flushed before a power cut.
enum DiskModel: String, CaseIterable, Sendable {
    /// Changes of names become durable in their order, and flushing a new file flushes its name:
    /// ext4 and XFS.
    case journaled
    /// Any change of names may become durable without earlier ones, and only flushing a directory
    /// flushes the names in it.
    case strict
}

/// The file or directory under a name.
struct FileImage {
    /// The bytes of a file; nil for a directory.
    let contents: [UInt8]?
    /// The identity of the file, equal for all its names.
    let node: ObjectIdentifier
}

/// A file or directory of a tree.
struct DiskFile {
    /// The path in the tree.
    let path: String
    /// The bytes of a file; nil for a directory.
    let contents: [UInt8]?
    let inode: UInt64
}

/// A file or directory: its durable content, and later writes.
final class DiskNode {
    enum Change {
        case write(Int, [UInt8])
        case resize(Int)
    }

    let isDirectory: Bool
    /// The contents that are surely on the medium.
    var durable: [UInt8]
    /// The contents that a program reads.
    var current: [UInt8]
    /// The changes since the last flush, oldest first.
    var pending: [Change] = []
    /// The writes of a failed flush: programs read them, but no later flush writes them, because
    /// the system considers them written.
    var lost: [(offset: Int, data: [UInt8])] = []

    init(isDirectory: Bool, contents: [UInt8] = []) {
        self.isDirectory = isDirectory
        durable = contents
        current = contents
    }

    func change(_ change: Change) {
        pending.append(change)
        change.apply(to: &current)
    }

    func flush() {
        for change in pending { makeDurable(change) }
        pending = []
    }

    /// Makes one write durable, without earlier writes.
    func flush(_ write: Change) {
        makeDurable(write)
        write.apply(to: &current)
        if !pending.isEmpty { pending.append(write) }
    }

    private func makeDurable(_ change: Change) {
        change.apply(to: &durable)
        switch change {
        case .write(let offset, let data): forgetLost(offset..<offset + data.count)
        case .resize(let size): forgetLost(size..<Int.max)
        }
    }

    /// Applies a failed flush: sizes become durable, and contents may or may not have been written.
    func failFlush() {
        for change in pending {
            switch change {
            case .resize: change.apply(to: &durable)
            case .write(let offset, let data):
                forgetLost(offset..<offset + data.count)
                lost.append((offset, data))
                if durable.count < offset + data.count { Change.resize(offset + data.count).apply(to: &durable) }
            }
        }
        pending = []
    }

    /// Removes a rewritten range from the lost writes.
    private func forgetLost(_ range: Range<Int>) {
        var kept: [(offset: Int, data: [UInt8])] = []
        for (offset, data) in lost {
            let end = offset + data.count
            if range.upperBound <= offset || range.lowerBound >= end {
                kept.append((offset, data))
                continue
            }
            if offset < range.lowerBound { kept.append((offset, Array(data[..<(range.lowerBound - offset)]))) }
            if end > range.upperBound { kept.append((range.upperBound, Array(data[(range.upperBound - offset)...]))) }
        }
        lost = kept
    }
}

/// A directory tree on a medium that keeps flushed data, and any part of other data.
struct DiskState {
    /// A change of names that is not durable yet.
    enum NameChange {
        case make(String, DiskNode)
        case rename(String, String)
        case exchange(String, String)
        case remove(String)

        /// The directories whose flush makes the change durable.
        var parents: [String] {
            func parent(_ path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }
            switch self {
            case .make(let path, _), .remove(let path): return [parent(path)]
            case .rename(let path, let other), .exchange(let path, let other): return [parent(path), parent(other)]
            }
        }
    }

    typealias Names = [String: DiskNode]

    let model: DiskModel
    private(set) var durableNames: Names = [:]
    private(set) var currentNames: Names = [:]
    private(set) var pendingNames: [NameChange] = []
    /// The newest file of each inode.
    private var nodes: [UInt64: DiskNode] = [:]

    /// Creates a durable tree.
    init(_ model: DiskModel, tree: [DiskFile]) {
        self.model = model
        for file in tree {
            let node = DiskNode(isDirectory: file.contents == nil, contents: file.contents ?? [])
            durableNames[file.path] = node
            nodes[file.inode] = node
        }
        currentNames = durableNames
    }

    /// Whether the medium has everything that a program sees.
    var isSettled: Bool {
        pendingNames.isEmpty && currentNames.values.allSatisfy { $0.pending.isEmpty && $0.lost.isEmpty }
    }

    // MARK: Changes

    mutating func apply(_ record: TraceRecord) {
        let node = nodes[record.inode]
        switch record.kind {
        case .created, .madeDirectory:
            let node = DiskNode(isDirectory: record.kind == .madeDirectory)
            nodes[record.inode] = node
            change(.make(record.path, node))
        case .linked: if let node { change(.make(record.path, node)) }
        case .renamed: change(.rename(record.path, record.other))
        case .exchanged: change(.exchange(record.path, record.other))
        case .unlinked, .removedDirectory: change(.remove(record.path))
        case .truncated: node?.change(.resize(record.offset))
        case .written:
            let write = DiskNode.Change.write(record.offset, record.data)
            if record.isDurable { node?.flush(write) } else { node?.change(write) }
        case .synced:
            guard let node else { return }
            node.flush()
            guard model == .journaled else { return }
            // The flush makes the file's name and all earlier changes of names durable.
            let last = pendingNames.lastIndex { if case .make(_, let made) = $0 { made === node } else { false } }
            if let last { flushNames(last + 1) }
        case .syncedDirectory:
            switch model {
            case .journaled: flushNames(pendingNames.count)
            case .strict:
                let (flushed, rest) = pendingNames.partitioned { $0.parents.contains(record.path) }
                for change in flushed { Self.apply(change, to: &durableNames) }
                pendingNames = rest
            }
        case .syncedAll:
            for node in nodes.values { node.flush() }
            flushNames(pendingNames.count)
        case .failedSync: node?.failFlush()
        case .marked: return
        }
    }

    private mutating func change(_ change: NameChange) {
        pendingNames.append(change)
        Self.apply(change, to: &currentNames)
    }

    private mutating func flushNames(_ count: Int) {
        for change in pendingNames.prefix(count) { Self.apply(change, to: &durableNames) }
        pendingNames.removeFirst(count)
    }

    static func apply(_ change: NameChange, to names: inout Names) {
        func move(from: String, to: String) {
            guard let node = names.removeValue(forKey: from) else { return }
            for path in names.keys where node.isDirectory && path.hasPrefix(from + "/") {
                names[to + path.dropFirst(from.count)] = names.removeValue(forKey: path)
            }
            names[to] = node
        }
        switch change {
        case .make(let path, let node): names[path] = node
        case .remove(let path): names[path] = nil
        case .rename(let path, let other): move(from: path, to: other)
        case .exchange(let path, let other):
            guard names[path] != nil, names[other] != nil else { return }
            move(from: path, to: "\u{1}")
            move(from: other, to: path)
            move(from: "\u{1}", to: other)
        }
    }
}

extension Array {
    fileprivate func partitioned(_ fits: (Element) -> Bool) -> (fitting: [Element], rest: [Element]) {
        (filter(fits), filter { !fits($0) })
    }
}
