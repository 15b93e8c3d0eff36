internal import RoostCore

/// Objects of consecutive keys that are associated with objects at one distance.
///
/// Seen from one side: `key` and `entity` are looked up; `otherKey` and `otherEntity` are found.
struct AssociationRun: Hashable {
    /// The key of the first object.
    var key: Int64
    /// The key of the object that the first one is associated with.
    var otherKey: Int64
    /// The number of objects, at least one.
    var count: UInt32
    /// The number of the objects' entity.
    var entity: UInt16
    /// The number of the entity of the objects they are associated with.
    var otherEntity: UInt16

    /// The key of the last object.
    var end: Int64 { key + (Int64(count) - 1) }

    /// Whether `next` continues this run, so that both are one.
    func isContinued(by next: AssociationRun) -> Bool {
        next.key &- key == Int64(count) && next.otherKey &- otherKey == Int64(count) && next.entity == entity
            && next.otherEntity == otherEntity && count <= UInt32.max - next.count
    }

    /// Returns the part of the run from a key on.
    func suffix(from key: Int64) -> AssociationRun {
        var rest = self
        rest.key = key
        rest.otherKey = otherKey + (key - self.key)
        rest.count = UInt32(truncatingIfNeeded: end - key + 1)
        return rest
    }

    /// Returns the part of the run up to a key.
    func prefix(through key: Int64) -> AssociationRun {
        var part = self
        part.count = UInt32(truncatingIfNeeded: key - self.key + 1)
        return part
    }

    /// Returns the object with which the object with a key of the run is associated.
    func other(of key: Int64) -> AssociationTable.Object {
        AssociationTable.Object(entity: Int(otherEntity), key: otherKey + (key - self.key))
    }
}

/// Runs in ascending order, which overlap in single keys at most: each run starts where the run
/// before it ends, or after it.
///
/// So all runs with a key are adjacent, and a binary search finds them.
struct SortedRuns {
    private(set) var runs: [AssociationRun] = []

    var isEmpty: Bool { runs.isEmpty }
    var count: Int { runs.count }

    /// Whether a run can be appended.
    func takes(_ key: Int64) -> Bool { runs.last.map { key >= $0.end } ?? true }

    /// Adds a run at the end, which must not start before the last one ends.
    mutating func append(_ run: AssociationRun) {
        if let last = runs.last, last.isContinued(by: run) {
            runs[runs.count - 1].count += run.count
        } else {
            runs.append(run)
        }
    }

    /// Inserts a single association in order; shifts everything after it.
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

    /// Appends the objects with which an object is associated.
    func append(othersOf key: Int64, to found: inout [AssociationTable.Object]) {
        var position = runs.firstPosition { $0.end >= key }
        while position < runs.count, runs[position].key <= key {
            found.append(runs[position].other(of: key))
            position += 1
        }
    }
}

/// Gives sorted runs of several sources one after the other, split where they overlap.
struct RunMerge {
    private var sources: [RunSource]
    private var heads: [AssociationRun?]

    init(_ sources: [RunSource]) throws(StoreError) {
        self.sources = sources
        heads = []
        for index in self.sources.indices { heads.append(try self.sources[index].next()) }
    }

    /// Returns the next run, such that no other run starts before it ends; nil at the end.
    mutating func next() throws(StoreError) -> AssociationRun? {
        var least = -1
        // The lowest key at which another run must come first, or between.
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
        // A run that starts at the same key first gives a single key, so that no run starts before the previous one ends.
        let part = run.prefix(through: limit)
        heads[least] = run.suffix(from: part.end + 1)
        return part
    }
}

/// Sorted runs, from memory or from a part of a file.
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
    /// Returns the position of the first element that meets a condition, or the count.
    ///
    /// The condition must be false for all elements before it and true for all elements after it.
    func firstPosition(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
