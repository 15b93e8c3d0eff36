internal import RoostCore

/// A run of objects with consecutive keys whose associated objects also have consecutive keys.
struct AssociationRun: Hashable {
    /// The key of the first object.
    var key: Int64
    /// The key of the object that is associated with the first object.
    var otherKey: Int64
    /// The number of objects, at least one.
    var count: UInt32
    /// The entity number of the objects.
    var entity: UInt16
    /// The entity number of the associated objects.
    var otherEntity: UInt16

    var end: Int64 { key + (Int64(count) - 1) }

    /// Returns whether `next` can be joined to this run.
    func isContinued(by next: AssociationRun) -> Bool {
        next.key &- key == Int64(count) && next.otherKey &- otherKey == Int64(count) && next.entity == entity
            && next.otherEntity == otherEntity && count <= UInt32.max - next.count
    }

    func suffix(from key: Int64) -> AssociationRun {
        var rest = self
        rest.key = key
        rest.otherKey = otherKey + (key - self.key)
        rest.count = UInt32(truncatingIfNeeded: end - key + 1)
        return rest
    }

    func prefix(through key: Int64) -> AssociationRun {
        var part = self
        part.count = UInt32(truncatingIfNeeded: key - self.key + 1)
        return part
    }

    func other(of key: Int64) -> AssociationTable.Object {
        AssociationTable.Object(entity: Int(otherEntity), key: otherKey + (key - self.key))
    }
}

/// Runs in ascending order: each run starts at or after the end of the previous run.
///
/// So all runs with a given key are adjacent, and a binary search finds them.
struct SortedRuns {
    private(set) var runs: [AssociationRun] = []

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }

    /// Returns whether a run with the given first key can be appended.
    func takes(_ key: Int64) -> Bool { runs.last.map { key >= $0.end } ?? true }

    /// Appends a run, which must not start before the end of the last run.
    mutating func append(_ run: AssociationRun) {
        if let last = runs.last, last.isContinued(by: run) {
            runs[runs.count - 1].count += run.count
        } else {
            runs.append(run)
        }
    }

    /// Inserts a single association in order, shifting all later runs.
    mutating func insert(_ single: AssociationRun) {
        let position = runs.firstPosition { $0.key > single.key }
        if position > 0 {
            let previous = runs[position - 1]
            if previous.isContinued(by: single) {
                runs[position - 1].count += 1
                return
            }
            if previous.end > single.key {
                runs.replaceSubrange(
                    position - 1..<position,
                    with: [previous.prefix(through: single.key), single, previous.suffix(from: single.key + 1)])
                return
            }
        }
        runs.insert(single, at: position)
    }

    func append(othersOf key: Int64, to found: inout [AssociationTable.Object]) {
        var position = runs.firstPosition { $0.end >= key }
        while position < runs.count, runs[position].key <= key {
            found.append(runs[position].other(of: key))
            position += 1
        }
    }
}

/// A merge of several sources of sorted runs, in which overlapping runs are split.
struct RunMerge {
    private var sources: [RunSource]
    private var heads: [AssociationRun?]

    init(_ sources: [RunSource]) throws(StoreError) {
        self.sources = sources
        heads = []
        for index in self.sources.indices { heads.append(try self.sources[index].next()) }
    }

    /// Returns the next run, or nil at the end.
    ///
    /// No later run starts before the end of the returned run.
    mutating func next() throws(StoreError) -> AssociationRun? {
        var least = -1
        // The lowest first key of the other runs, after which the returned run is cut.
        var limit = Int64.max
        for (index, head) in heads.enumerated() {
            guard let head else { continue }
            guard least >= 0, let current = heads[least] else {
                least = index
                continue
            }
            if head.key < current.key {
                limit = min(limit, current.key)
                least = index
            } else {
                limit = min(limit, head.key)
            }
        }
        guard least >= 0, let run = heads[least] else { return nil }
        if run.end <= limit {
            heads[least] = try sources[least].next()
            return run
        }
        // If another run starts at the same key, a run of one key is returned, so that no run
        // starts before the previous run ends.
        let part = run.prefix(through: limit)
        heads[least] = run.suffix(from: part.end + 1)
        return part
    }
}

/// A source of sorted runs, in memory or in a part of a file.
enum RunSource {
    case memory(ArraySlice<AssociationRun>)
    case segment(SpilledRuns, page: Int, rest: ArraySlice<AssociationRun>)

    mutating func next() throws(StoreError) -> AssociationRun? {
        switch self {
        case .memory(var rest):
            let run = rest.popFirst()
            self = .memory(rest)
            return run
        case .segment(let segment, var page, var rest):
            while rest.isEmpty, page < segment.pageCount {
                rest = try segment.page(page)[...]
                page += 1
            }
            let run = rest.popFirst()
            self = .segment(segment, page: page, rest: rest)
            return run
        }
    }
}

extension Array {
    /// Returns the position of the first element that matches a condition, or the count.
    ///
    /// The condition must be false for all elements before the position, and true for all others.
    func firstPosition(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
