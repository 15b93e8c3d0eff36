package import RoostCore

/// A model as read from a file, before it is built.
package struct ModelDraft {
    package var entities: [EntityDescription] = []
    package var configurations: [String: [String]] = [:]
    package var fetchRequestTemplates: [FetchRequestTemplate] = []
    package var versionIdentifiers: [String] = []
    var userInfo: [String: String] = [:]
    /// The line numbers for warnings, by entity name or `entity.property`.
    var lines: [String: Int] = [:]

    package init() {}

    /// Builds the model, and corrects parts that Core Data allows but a Roost model does not.
    ///
    /// Each correction causes a warning, except naming an unnamed fetch index and removing a
    /// duplicate index.
    package func build(warnings: inout [ModelImportWarning], file: String) throws(StoreError) -> ManagedObjectModel {
        var draft = self
        draft.dropOneSidedInverses(&warnings, file: file)
        draft.separateIndexes(&warnings, file: file)
        draft.prune(&warnings, file: file)
        do throws(StoreError) {
            return try ManagedObjectModel(
                entities: draft.entities, configurations: draft.configurations,
                fetchRequestTemplates: draft.fetchRequestTemplates, versionIdentifiers: draft.versionIdentifiers,
                userInfo: draft.userInfo)
        } catch {
            throw error.located(in: "'\(file)'")
        }
    }

    private struct RelationshipPosition: Hashable, Comparable {
        let entity: Int
        let relationship: Int

        static func < (left: Self, right: Self) -> Bool {
            left.entity != right.entity ? left.entity < right.entity : left.relationship < right.relationship
        }
    }

    /// The inverse that a relationship names.
    private struct NamedInverse {
        /// The position; nil if the inverse does not exist.
        var position: RelationshipPosition?
        /// Whether the destination of the inverse is the relationship's entity or one of its
        /// subentities.
        var hasMatchingDestination = false
    }

    /// Clears `inverseName` in each relationship whose inverse is missing or does not refer back.
    private mutating func dropOneSidedInverses(_ warnings: inout [ModelImportWarning], file: String) {
        guard let inverses = namedInverses() else { return }
        var users: [RelationshipPosition: [RelationshipPosition]] = [:]
        for (user, inverse) in inverses {
            if let position = inverse.position { users[position, default: []].append(user) }
        }
        var candidates = inverses.keys.sorted()
        while !candidates.isEmpty {
            var dropped: [RelationshipPosition] = []
            for position in candidates {
                let relationship = entities[position.entity].relationships[position.relationship]
                guard let name = relationship.inverseName, let inverse = inverses[position] else { continue }
                if let back = inverse.position, inverse.hasMatchingDestination,
                    entities[back.entity].relationships[back.relationship].inverseName == relationship.name
                {
                    continue
                }
                dropped.append(position)
                warn(
                    &warnings, file: file, entity: entities[position.entity].name, property: relationship.name,
                    message: inverse.position == nil
                        ? "its inverse '\(name)' does not exist; it is read as a relationship without inverse"
                        : "its inverse '\(name)' does not point back; it is read as a relationship without inverse")
            }
            for position in dropped {
                entities[position.entity].relationships[position.relationship].inverseName = nil
            }
            // Removing an inverse on one side makes the other side one-sided too.
            candidates = dropped.flatMap { users[$0] ?? [] }.sorted()
        }
    }

    /// Finds the inverse of each relationship that names one, or returns nil if `lineages` does.
    private func namedInverses() -> [RelationshipPosition: NamedInverse]? {
        let names = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard let lineages = self.lineages(names) else { return nil }
        let positions = entities.map { entity in
            Dictionary(
                entity.relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        var inverses: [RelationshipPosition: NamedInverse] = [:]
        for (entity, description) in entities.enumerated() {
            for (number, relationship) in description.relationships.enumerated() {
                guard let name = relationship.inverseName else { continue }
                var inverse = NamedInverse()
                let line = names[relationship.destinationEntityName].map { lineages[$0] } ?? []
                if let owner = line.first(where: { positions[$0][name] != nil }), let back = positions[owner][name] {
                    inverse.position = RelationshipPosition(entity: owner, relationship: back)
                    let destination = names[entities[owner].relationships[back].destinationEntityName]
                    inverse.hasMatchingDestination = destination.map { lineages[$0].contains(entity) } ?? false
                }
                inverses[RelationshipPosition(entity: entity, relationship: number)] = inverse
            }
        }
        return inverses
    }

    /// Returns for each entity its own position and its ancestors' positions, nearest first.
    ///
    /// Returns nil above the validator's limit, because the positions could fill the memory. The
    /// validator then refuses the model.
    private func lineages(_ names: [String: Int]) -> [[Int]]? {
        var lineages: [[Int]] = []
        var inheritedCount = 0
        for number in entities.indices {
            var (line, seen) = ([Int](), Set<Int>())
            var next: Int? = number
            while let number = next, seen.insert(number).inserted {
                line.append(number)
                next = entities[number].superentityName.flatMap { names[$0] }
            }
            inheritedCount += line.count
            guard inheritedCount <= ModelValidator.maximumInheritedCount else { return nil }
            lineages.append(line)
        }
        return lineages
    }

    /// Gives each fetch index of an entity a unique name, and removes duplicate indexes.
    private mutating func separateIndexes(_ warnings: inout [ModelImportWarning], file: String) {
        for entity in entities.indices {
            var kept: [FetchIndexDescription] = []
            // The kept indexes, with their original names.
            var known: [FetchIndexDescription] = []
            for var index in entities[entity].fetchIndexes {
                if index.name.isEmpty { index.name = "index" }
                let name = index.name
                if known.contains(index) { continue }
                known.append(index)
                var number = 2
                while kept.contains(where: { $0.name == index.name }) {
                    index.name = "\(name)_\(number)"
                    number += 1
                }
                if number > 2 {
                    warn(
                        &warnings, file: file, entity: entities[entity].name, property: nil,
                        message:
                            "several fetch indexes have the name '\(name)'; one of them is renamed to '\(index.name)'"
                    )
                }
                kept.append(index)
            }
            entities[entity].fetchIndexes = kept
        }
    }

    func warn(
        _ warnings: inout [ModelImportWarning], file: String, entity: String?, property: String?,
        message: String
    ) {
        let place = [entity, property].compactMap { $0 }.joined(separator: ".")
        warnings.append(
            ModelImportWarning(
                file: file, line: lines[place] ?? entity.flatMap { lines[$0] },
                element: entity.map { property == nil ? "entity '\($0)'" : "property '\(place)'" } ?? "model",
                message: message))
    }
}
