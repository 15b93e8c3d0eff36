public import RoostCore

/// The versions of a model, oldest first, and the mapping models between them.
///
/// A store's version is the newest version with which the store is compatible. A migration from
/// this version to the new version uses the history's mapping models, which may skip versions. Each
/// gap without a mapping model is one inferred step, as in Core Data. A gap is split into smaller
/// steps only if one step cannot be inferred, or would drop more data.
///
/// ```swift
/// var history = try ModelHistory([
///     .init("Music", model: version1), .init("Music 2", model: version2),
/// ])
/// try history.add(mapping, from: "Music", to: "Music 2")
/// let store = try Store.open(
///     .sqlite("music.sqlite"), model: version2,
///     ifIncompatible: .migrate(MigrationOptions(history: history)))
/// ```
public struct ModelHistory: Sendable {
    /// One version of a model.
    public struct Version: Sendable {
        /// The name of the version in messages and reports.
        public let name: String
        /// The model.
        public let model: ManagedObjectModel

        /// Creates a version.
        public init(_ name: String, model: ManagedObjectModel) { (self.name, self.model) = (name, model) }
    }

    /// A mapping model and the positions of the versions that it connects.
    package struct VersionMapping: Sendable {
        package let source: Int
        package let destination: Int
        package let mapping: MappingModel
    }

    /// The versions, oldest first.
    ///
    /// Their names are unique.
    public let versions: [Version]
    /// The mapping models, in the order of their addition.
    package private(set) var mappings: [VersionMapping] = []
    /// The reasons why each version except the oldest follows its predecessor, for messages.
    ///
    /// Empty if a program specified the order.
    package let orderReasons: [String]

    /// Creates a history without mapping models.
    ///
    /// - Parameter versions: The versions, oldest first.
    /// - Throws: `invalidRequest` without any version, or if two versions have the same name.
    public init(_ versions: [Version]) throws(StoreError) { try self.init(versions, orderReasons: []) }

    /// Creates a history without mapping models, with the reasons for its derived order.
    package init(_ versions: [Version], orderReasons: [String]) throws(StoreError) {
        guard !versions.isEmpty else {
            throw StoreError(
                .invalidRequest, "A history of a model needs at least one version; give the current version.")
        }
        var names: Set<String> = []
        for version in versions where !names.insert(version.name).inserted {
            throw StoreError(
                .invalidRequest, "The history has two versions with the name '\(version.name)'; rename one.")
        }
        self.versions = versions
        self.orderReasons = orderReasons
    }

    /// Adds a mapping model between two versions.
    ///
    /// - Parameters:
    ///   - mapping: The mapping model.
    ///   - source: The name of the source version.
    ///   - destination: The name of the destination version, which must be later.
    /// - Throws: `invalidRequest` for unknown versions or the wrong order; `invalidMappingModel`
    ///   with all problems of the mapping model for the two models.
    public mutating func add(
        _ mapping: MappingModel, from source: String, to destination: String
    ) throws(StoreError) {
        let (from, to) = (try position(named: source), try position(named: destination))
        guard from < to else {
            throw StoreError(
                .invalidRequest,
                "Cannot add the mapping model from '\(source)' to '\(destination)': its destination must be a later version than its source; exchange the two, state the order of the versions (--versions), or migrate with the mapping model alone."
            )
        }
        try mapping.requireValid(from: versions[from].model, to: versions[to].model)
        mappings.append(VersionMapping(source: from, destination: to, mapping: mapping))
    }

    /// Adds a mapping model between the versions that it matches.
    ///
    /// The entities and properties of the mapping model must exist in the two versions. Version
    /// hashes in the mapping model, if any, must match too.
    ///
    /// - Throws: `invalidMappingModel` if the mapping model matches no pair of versions, or several
    ///   pairs whose version hashes differ.
    public mutating func add(_ mapping: MappingModel) throws(StoreError) {
        var fitting: [(Int, Int)] = []
        var nearest: (names: String, problems: [MappingProblem])?
        for from in versions.indices {
            // Between versions with equal version hashes, no mapping is needed.
            for to in versions.indices where to > from && !isSame(from, to) {
                let problems = mapping.problems(from: versions[from].model, to: versions[to].model)
                if problems.isEmpty {
                    fitting.append((from, to))
                } else if problems.count < nearest?.problems.count ?? .max {
                    nearest = ("'\(versions[from].name)' to '\(versions[to].name)'", problems)
                }
            }
        }
        // Of versions with equal version hashes, only the newest counts.
        let distinct = fitting.filter { from, to in
            !fitting.contains { ($0 > from || $1 > to) && isSame($0, from) && isSame($1, to) }
        }
        guard let (from, to) = distinct.first else {
            let reason = nearest.map { "; it fits best from \($0.names), with this problem: \($0.problems[0])" } ?? ""
            throw StoreError(
                .invalidMappingModel,
                "The mapping model (\(Self.names(of: mapping))) matches no pair of the versions \(versionList)\(reason)"
            )
        }
        guard distinct.count == 1 else {
            let pairs = distinct.map { "'\(versions[$0].name)' to '\(versions[$1].name)'" }
            throw StoreError(
                .invalidMappingModel,
                "The mapping model (\(Self.names(of: mapping))) fits several versions: from \(pairs.joined(separator: ", from ")); say which versions are meant (--mapping=FILE@FROM..TO), or write version hashes into it."
            )
        }
        mappings.append(VersionMapping(source: from, destination: to, mapping: mapping))
    }

    private static func names(of mapping: MappingModel) -> String {
        let names = mapping.entityMappings.prefix(3).map { "'\($0.name)'" }
        return names.joined(separator: ", ") + (mapping.entityMappings.count > 3 ? ", …" : "")
    }

    // MARK: Versions

    var versionList: String { versions.map { "'\($0.name)'" }.joined(separator: ", ") }

    /// Returns whether two versions have equal version hashes.
    func isSame(_ left: Int, _ right: Int) -> Bool {
        left == right || versions[left].model.stores(sameAs: versions[right].model)
    }

    /// Returns the position of the version with the given name, or throws `invalidRequest`.
    func position(named name: String) throws(StoreError) -> Int {
        if let position = versions.firstIndex(where: { $0.name == name }) { return position }
        let hint = nearestName(to: name, among: versions.map(\.name)).map { "did you mean '\($0)'?" }
        throw StoreError(
            .invalidRequest, "The history has no version '\(name)'; \(hint ?? "it has \(versionList).")")
    }

    /// Returns the position of the newest version with the version hashes of `model`, or nil.
    ///
    /// A version whose model equals `model` takes precedence.
    func position(of model: ManagedObjectModel) -> Int? {
        versions.lastIndex { $0.model == model } ?? versions.lastIndex { $0.model.stores(sameAs: model) }
    }
}

extension ManagedObjectModel {
    /// Returns whether both models have the same entities with the same version hashes.
    func stores(sameAs other: ManagedObjectModel) -> Bool {
        entities.count == other.entities.count
            && zip(entities, other.entities).allSatisfy { $0.name == $1.name && $0.versionHash == $1.versionHash }
    }
}
