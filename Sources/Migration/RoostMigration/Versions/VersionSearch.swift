internal import RoostCore

/// A search for the path from one version of a history to a later one.
///
/// ``ModelHistory`` describes which path is chosen.
struct VersionSearch {
    /// The inferred steps between two versions.
    private struct Inferred {
        var steps: [MigrationChain.Step]
        /// The reason for more than one step, or nil for one step.
        var reason: String?
    }

    /// A mapping model that a path can use, with the positions of its versions.
    private struct Mapping {
        let number: Int
        let source: Int
        let destination: Int
    }

    private let history: ModelHistory
    private let start: Int
    private let end: Int
    private let options: MigrationOptions
    private let mappings: [Mapping]
    private var inferred: [[Int]: Inferred] = [:]
    /// The reasons why steps cannot be inferred, for messages.
    private(set) var failures: [String] = []

    init(_ history: ModelHistory, from start: Int, to end: Int, options: MigrationOptions) {
        (self.history, self.start, self.end, self.options) = (history, start, end, options)
        mappings = history.mappings.enumerated().compactMap { number, mapping in
            // A mapping model may name another version with the version hashes of `start` or `end`.
            let source = history.isSame(mapping.source, start) ? max(mapping.source, start) : mapping.source
            let destination =
                history.isSame(mapping.destination, end) ? min(mapping.destination, end) : mapping.destination
            guard source >= start, destination <= end, source < destination else { return nil }
            return Mapping(number: number, source: source, destination: destination)
        }
    }

    /// Returns the steps of the path, or nil if no path exists; ``failures`` then contains the
    /// reasons.
    ///
    /// - Throws: Errors of inference other than `mappingNotInferable`.
    mutating func chain() throws(StoreError) -> MigrationChain? {
        var places = Set(mappings.flatMap { [$0.source, $0.destination] })
        places.formUnion([start, end])
        let positions = places.sorted()
        var steps = mappings.map { VersionStep(from: $0.source, to: $0.destination, kind: .mapping($0.number)) }
        for from in positions {
            for to in positions where to > from {
                if let step = try step(from: from, to: to) { steps.append(step) }
            }
        }
        guard let path = VersionPath.shortest(from: start, to: end, steps: steps) else { return nil }
        return MigrationChain(steps: joined(path), way: way(path))
    }

    /// Returns an inferred step between two versions, an empty step for equal version hashes, or
    /// nil.
    private mutating func step(from: Int, to: Int) throws(StoreError) -> VersionStep? {
        if history.isSame(from, to) { return VersionStep(from: from, to: to, kind: .same) }
        // A step that spans a whole mapping model is not inferred, because it would bypass the mapping model.
        guard !mappings.contains(where: { from <= $0.source && $0.destination <= to }),
            let way = try infer(from: from, to: to)
        else { return nil }
        inferred[[from, to]] = way
        let evaded = (from..<to).count { gap in mappings.contains { $0.source <= gap && gap < $0.destination } }
        return VersionStep(from: from, to: to, kind: .inferred, count: way.steps.count, evadedCount: evaded)
    }

    // MARK: Inferring

    private mutating func infer(from: Int, to: Int) throws(StoreError) -> Inferred? {
        guard options.infersMappingModel else {
            fail(from, to: to, reason: "no mapping model was given, and inference is off.")
            return nil
        }
        let direct: MigrationChain.Step?
        var reason: String?
        do throws(StoreError) { direct = try inferredStep(from: from, to: to) } catch {
            guard error.code == .mappingNotInferable else { throw error }
            guard to > from + 1 else {
                fail(from, to: to, reason: error.message)
                return nil
            }
            direct = nil
            reason = "one step cannot be inferred"
        }
        let source = history.versions[from].model
        if let direct {
            let steps = [direct]
            // Most searches end here: the step loses no data, or the versions are neighbors.
            guard to > from + 1,
                direct.mapping.remarks(from: source, to: direct.model).contains(where: { $0.kind == .loss })
            else { return Inferred(steps: steps) }
        }
        guard let versions = try steps(from, to: to, isNeeded: direct == nil) else {
            return direct.map { Inferred(steps: [$0]) }
        }
        if let direct {
            let kept = KeptElement.all(of: source, after: [direct.mapping])
            let keptByVersions = KeptElement.all(of: source, after: versions.map(\.mapping))
            guard kept.isStrictSubset(of: keptByVersions) else { return Inferred(steps: [direct]) }
            let more = keptByVersions.subtracting(kept).map(\.description).sorted()
            reason =
                "one step would drop \(more.prefix(3).joined(separator: ", "))\(more.count > 3 ? " and others" : "")"
        }
        let chain = MigrationChain(steps: versions).fusing(from: source, options: options.inference)
        return Inferred(steps: chain.steps, reason: chain.steps.count > 1 ? reason : nil)
    }

    private func inferredStep(from: Int, to: Int) throws(StoreError) -> MigrationChain.Step {
        let (old, new) = (history.versions[from], history.versions[to])
        return MigrationChain.Step(
            sourceName: old.name, destinationName: new.name, model: new.model,
            mapping: try MappingModel.inferred(from: old.model, to: new.model, options: options.inference),
            isInferred: true)
    }

    /// Returns one inferred step for each pair of neighboring versions, or nil if a step cannot be
    /// inferred.
    ///
    /// If `isNeeded` is true, ``failures`` receives the reasons.
    private mutating func steps(
        _ from: Int, to: Int, isNeeded: Bool
    ) throws(StoreError) -> [MigrationChain.Step]? {
        var steps: [MigrationChain.Step] = []
        var isWhole = true
        for version in from..<to {
            if history.isSame(version, version + 1) {
                // No step connects versions with equal version hashes; the previous step ends at the newer version
                // instead. Without a previous step, the store already has the newer version.
                if !steps.isEmpty {
                    steps[steps.count - 1].model = history.versions[version + 1].model
                    steps[steps.count - 1].destinationName = history.versions[version + 1].name
                }
                continue
            }
            do throws(StoreError) { steps.append(try inferredStep(from: version, to: version + 1)) } catch {
                guard error.code == .mappingNotInferable else { throw error }
                if isNeeded { fail(version, to: version + 1, reason: error.message) }
                isWhole = false
            }
        }
        return isWhole ? steps : nil
    }

    private mutating func fail(_ from: Int, to: Int, reason: String) {
        let failure = "from '\(history.versions[from].name)' to '\(history.versions[to].name)': \(reason)"
        if !failures.contains(failure) { failures.append(failure) }
    }

    // MARK: The path

    /// Returns the migrations of a path, without steps between versions with equal version hashes.
    private func joined(_ path: [VersionStep]) -> [MigrationChain.Step] {
        var steps: [MigrationChain.Step] = []
        for step in path {
            let (from, to) = (history.versions[step.from], history.versions[step.to])
            switch step.kind {
            case .same:
                if !steps.isEmpty {
                    steps[steps.count - 1].model = to.model
                    steps[steps.count - 1].destinationName = to.name
                }
            case .mapping(let number):
                steps.append(
                    MigrationChain.Step(
                        sourceName: from.name, destinationName: to.name, model: to.model,
                        mapping: history.mappings[number].mapping, isInferred: false))
            case .inferred: steps += inferred[[step.from, step.to]]?.steps ?? []
            }
        }
        return steps
    }

    private func way(_ path: [VersionStep]) -> String? {
        let parts: [String] = path.compactMap { step in
            let ends = "from '\(history.versions[step.from].name)' to '\(history.versions[step.to].name)'"
            switch step.kind {
            case .same: return nil
            case .mapping: return "by a mapping model \(ends)"
            case .inferred:
                guard let way = inferred[[step.from, step.to]], let reason = way.reason else {
                    return "inferred directly \(ends)"
                }
                return "inferred in \(way.steps.count) steps \(ends), because \(reason)"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
