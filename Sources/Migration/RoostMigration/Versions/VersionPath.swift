internal import RoostCore

/// A step between two versions of a history, by their positions.
struct VersionStep: Hashable, Sendable {
    /// The ways to make a step.
    enum Kind: Hashable, Sendable {
        /// Both versions store the same; there is nothing to do.
        case same
        /// By the history's mapping model at this position.
        case mapping(Int)
        /// By inferred mapping models.
        case inferred
    }

    /// The version at which it begins.
    var from: Int
    /// The version at which it ends, after `from`.
    var to: Int
    /// The way this step is made.
    var kind: Kind
    /// The number of migrations it takes, if it is inferred.
    var count = 1
    /// The number of gaps between neighbors that it infers over although a mapping model spans
    /// them.
    var evadedCount = 0
}

/// Finds the way through the versions of a history.
enum VersionPath {
    /// The cost of a path; smaller is better.
    private struct Cost: Comparable {
        /// The gaps between neighbors that are inferred over although a mapping model spans them.
        var evaded = 0
        /// The number of migrations; each reads and writes the whole store.
        var migrations = 0
        /// The number of inferred migrations; written mapping models are preferred.
        var inferred = 0

        static func < (left: Self, right: Self) -> Bool {
            (left.evaded, left.migrations, left.inferred) < (right.evaded, right.migrations, right.inferred)
        }

        func adding(_ step: VersionStep) -> Self {
            switch step.kind {
            case .same: self
            case .mapping: Cost(evaded: evaded, migrations: migrations + 1, inferred: inferred)
            case .inferred:
                Cost(
                    evaded: evaded + step.evadedCount, migrations: migrations + step.count,
                    inferred: inferred + step.count)
            }
        }
    }

    /// Returns the path with the fewest migrations from one version to a later one, or nil.
    ///
    /// A path that leaves out no mapping model comes before all others. Of paths with equally few
    /// migrations, the path with the fewest inferred ones is taken. Next come the path that goes
    /// further first, and the path whose mapping model comes first.
    /// - Parameters:
    ///   - start: The position of the version to begin at.
    ///   - end: The position of the version to reach; not before `start`.
    ///   - steps: The possible steps; backward steps are ignored.
    /// - Returns: The steps of the path, or nil.
    /// - Complexity: O(*n* log *n*) in the steps.
    static func shortest(from start: Int, to end: Int, steps: [VersionStep]) -> [VersionStep]? {
        guard start < end else { return start == end ? [] : nil }
        var outgoing: [Int: [VersionStep]] = [:]
        for step in steps where step.from < step.to && step.from >= start && step.to <= end {
            outgoing[step.from, default: []].append(step)
        }
        // Steps only go forward, so going backward from the end, everything after a version is known when it is examined.
        var best: [Int: (cost: Cost, step: VersionStep?)] = [end: (Cost(), nil)]
        for version in (start..<end).reversed() {
            for step in (outgoing[version] ?? []).sorted(by: precedes) {
                guard let rest = best[step.to] else { continue }
                let cost = rest.cost.adding(step)
                if let known = best[version], known.cost <= cost { continue }
                best[version] = (cost, step)
            }
        }
        guard best[start] != nil else { return nil }
        var path: [VersionStep] = []
        var version = start
        while version != end, let step = best[version]?.step {
            path.append(step)
            version = step.to
        }
        return path
    }

    /// The order in which steps from one version are tried, which decides between equals.
    private static func precedes(_ left: VersionStep, _ right: VersionStep) -> Bool {
        guard left.to == right.to else { return left.to > right.to }
        return rank(left) < rank(right)
    }

    private static func rank(_ step: VersionStep) -> Int {
        switch step.kind {
        case .same: -1
        case .mapping(let position): position
        case .inferred: .max
        }
    }
}
