internal import RoostAppleModels
package import RoostCore
internal import RoostCoreData
internal import RoostFiles
package import RoostMigration

/// The versions of an Apple bundle, read once.
package struct VersionBundle {
    /// A mapping model, with its source and destination versions if they are already known.
    private struct Mapping {
        let file: String
        var mapping: MappingModel
        var ends: (from: String, to: String)?
        var warnings: [String]
    }

    /// The versions, in the natural order of their names.
    private let versions: [ModelHistory.Version]
    /// The version that the bundle names as current.
    private let current: String?

    /// Reads the bundle at `path`; nil for a model with one version.
    package init?(at path: String) throws(StoreError) {
        guard ModelFile.isBundle(path) else { return nil }
        let (names, current) = try CoreDataModelReader.versionNames(at: path)
        guard names.count > 1 else { return nil }
        var versions: [ModelHistory.Version] = []
        for name in names {
            versions.append(.init(name, model: try CoreDataModelReader.read(at: path, version: name).model))
        }
        self.versions = versions
        self.current = current
    }

    /// Returns the versions, oldest first, with the mapping models of the evidence.
    ///
    /// `isDecided` is whether the evidence determines the order of all versions.
    package func history(
        _ evidence: VersionEvidence
    ) throws(StoreError) -> (history: ModelHistory, warnings: [String], isDecided: Bool) {
        for (index, name) in evidence.order.enumerated() {
            try requireVersion(name)
            guard !evidence.order[..<index].contains(name) else {
                throw StoreError(
                    .invalidRequest, "The order of versions names '\(name)' twice; name each version once.")
            }
        }
        var mappings: [Mapping] = []
        for text in evidence.mappings { mappings.append(try mapping(text)) }
        let order = VersionOrder(
            versions.map(\.name), current: current, stated: evidence.order,
            mappings: mappings.compactMap { $0.ends.map { (older: $0.from, newer: $0.to) } }, store: store(evidence))
        let byName = Dictionary(versions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var history = try ModelHistory(
            order.sorted.compactMap { byName[$0] }, orderReasons: order.reasons.map(\.text))
        for mapping in mappings {
            do throws(StoreError) {
                if let ends = mapping.ends {
                    try history.add(mapping.mapping, from: ends.from, to: ends.to)
                } else {
                    try history.add(mapping.mapping)
                }
            } catch {
                throw error.located(in: "'\(mapping.file)'")
            }
        }
        return (history, mappings.flatMap(\.warnings), !order.reasons.contains(.unknown))
    }

    private func requireVersion(_ name: String) throws(StoreError) {
        let names = versions.map(\.name)
        guard !names.contains(name) else { return }
        let hint =
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            ?? "it has: \(names.joined(separator: ", "))."
        throw StoreError(.invalidRequest, "The bundle has no version '\(name)'; \(hint)")
    }

    /// Returns a store's version and the target version of its migration; nil if unknown or equal.
    private func store(_ evidence: VersionEvidence) -> (older: String, newer: String)? {
        guard let model = evidence.storeModel, let target = evidence.target ?? current,
            let newer = versions.first(where: { $0.name == target }), !newer.model.hasVersionHashes(of: model),
            let older = versions.first(where: { $0.model == model })
                ?? versions.first(where: { $0.model.hasVersionHashes(of: model) })
        else { return nil }
        return (older.name, newer.name)
    }

    // MARK: Mapping models

    /// Reads a mapping model, and finds its two versions if possible.
    private func mapping(_ text: String) throws(StoreError) -> Mapping {
        let (file, suffix) = ModelFile.splitVersion(text)
        if let suffix {
            guard let range = suffix.firstRange(of: "..") else {
                throw StoreError(
                    .invalidRequest, "Cannot read the versions of the mapping model '\(text)'. Write FILE@FROM..TO.")
            }
            let (from, to) = (String(suffix[..<range.lowerBound]), String(suffix[range.upperBound...]))
            try requireVersion(from)
            try requireVersion(to)
            return try mapping(file, from: from, to: to)
        }
        if !file.lowercased().hasSuffix(".json") {
            // Try the models' names in Apple's file first, although the project may have renamed
            // the models.
            let paths = try CoreDataMappingReader.read(at: file)
            let ends = [paths.sourceModelPath, paths.destinationModelPath].map { $0.map(Self.versionName) }
            if let from = ends[0], let to = ends[1], from != to, model(from) != nil, model(to) != nil,
                let found = fitting(file, from: from, to: to)
            {
                return found
            }
        }
        let (read, warnings) = try MappingFile.read(file)
        return Mapping(file: file, mapping: read, ends: hashedEnds(of: read), warnings: warnings)
    }

    private func model(_ name: String) -> ManagedObjectModel? { versions.first { $0.name == name }?.model }

    private func mapping(_ file: String, from: String, to: String) throws(StoreError) -> Mapping {
        let (read, warnings) = try MappingFile.read(file, source: model(from), destination: model(to))
        return Mapping(file: file, mapping: read, ends: (from, to), warnings: warnings)
    }

    /// Returns the mapping model in a file; nil if unreadable or not valid for the given versions.
    private func fitting(_ file: String, from: String, to: String) -> Mapping? {
        guard let source = model(from), let destination = model(to),
            let found = try? mapping(file, from: from, to: to),
            found.mapping.problems(from: source, to: destination).isEmpty
        else { return nil }
        return found
    }

    /// Returns the two versions whose entities have the hashes in a mapping model, or nil.
    ///
    /// If several versions have equal hashes, uses the last in natural order.
    private func hashedEnds(of mapping: MappingModel) -> (from: String, to: String)? {
        let hasHashes = mapping.entityMappings.contains {
            $0.sourceVersionHash != nil || $0.destinationVersionHash != nil
        }
        guard hasHashes else { return nil }
        func matching(_ entity: (EntityMapping) -> (EntityName?, VersionHash?)) -> [ModelHistory.Version] {
            versions.filter { version in
                mapping.entityMappings.allSatisfy { mapping in
                    let (name, hash) = entity(mapping)
                    guard let name, let hash else { return true }
                    guard let entity = version.model.entity(name) else { return false }
                    return VersionHash.Recipe.allCases.contains { recipe in
                        version.model.versionHash(of: entity, by: recipe) == hash
                    }
                }
            }
        }
        let sources = matching { ($0.sourceEntity, $0.sourceVersionHash) }
        let destinations = matching { ($0.destinationEntity, $0.destinationVersionHash) }
        guard let from = sources.last, let to = destinations.last, from.name != to.name,
            sources.allSatisfy({ $0.model.hasVersionHashes(of: from.model) }),
            destinations.allSatisfy({ $0.model.hasVersionHashes(of: to.model) }),
            mapping.problems(from: from.model, to: to.model).isEmpty
        else { return nil }
        return (from.name, to.name)
    }

    /// Returns the version's name in a model's path: `Model 2` for
    /// `App/Model.xcdatamodeld/Model 2.xcdatamodel`.
    private static func versionName(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let suffix = ".xcdatamodel"
        return name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    }
}

extension VersionOrder.Reason {
    fileprivate var text: String {
        switch self {
        case .stated: "the stated order"
        case .numbers: "the numbers in the names"
        case .mappingModel: "a mapping model is from the older to the newer version"
        case .currentVersion: "the newer version is named like the current version"
        case .names: "the order of names that begin alike"
        case .store: "a store is to be migrated to the newer version"
        case .unknown: "nothing indicates it; the versions are sorted by name"
        }
    }
}
