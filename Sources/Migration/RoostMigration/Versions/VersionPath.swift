internal import RoostCore

/// A step between two versions of a history, by their positions.
struct VersionStep: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The versions have equal version hashes, so no migration is needed.
        case same
        /// A step with a mapping model, given by its position in the history's list.
        case mapping(Int)
        case inferred
    }

    var from: Int
    var to: Int
    var kind: Kind
    /// The number of migrations in an inferred step.
    var count = 1
    /// The number of gaps between neighboring versions that both this inferred step and a mapping
    /// model span.
    var evadedCount = 0
}

/// A search for the shortest path through the versions of a history.
enum VersionPath {
    /// The cost of a path; lower is better, and an earlier property outweighs later ones.
    private struct Cost: Comparable {
        /// See ``VersionStep/evadedCount``.
        var evaded = 0
        var migrations = 0
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

    /// Returns the path with the lowest cost from one version to a later one, or nil.
    ///
    /// Of paths with equal cost, prefers a longer first step, then the mapping model added first.
    ///
    /// - Complexity: O(*n* log *n*), where *n* is the number of steps.
    static func shortest(from start: Int, to end: Int, steps: [VersionStep]) -> [VersionStep]? {
        guard start < end else { return start == end ? [] : nil }
        var outgoing: [Int: [VersionStep]] = [:]
        for step in steps where step.from < step.to && step.from >= start && step.to <= end {
            outgoing[step.from, default: []].append(step)
        }
        // Examines versions from last to first, so that the best paths from later versions are known.
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

    /// Returns whether a step precedes another step from the same version, to break ties.
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
