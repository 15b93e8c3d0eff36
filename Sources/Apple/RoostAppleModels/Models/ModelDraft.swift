package import RoostCore

/// A model as read from a file, before it is built.
package struct ModelDraft {
    package var entities: [EntityDescription] = []
    package var configurations: [String: [String]] = [:]
    package var fetchRequestTemplates: [FetchRequestTemplate] = []
    package var versionIdentifiers: [String] = []
    var userInfo: [String: String] = [:]
    /// Line numbers for warnings, by entity name or by entity and property joined with a dot.
    var lines: [String: Int] = [:]

    package init() {}

    /// Builds the model.
    ///
    /// Corrects parts that Core Data allows but a Roost model does not.
    ///
    /// Each correction causes a warning, except when it names an unnamed fetch index or removes a
    /// duplicate index.
    ///
    /// - Throws: `invalidModel`, with the file name.
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

    /// Removes the inverse of each relationship whose inverse is missing or does not refer back.
    private mutating func dropOneSidedInverses(_ warnings: inout [ModelImportWarning], file: String) {
        let entities = entities
        let names = Dictionary(
            entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        /// Returns the positions of an entity and of the entities that it inherits from.
        func lineage(_ name: String) -> [Int] {
            var line: [Int] = []
            var next = names[name]
            while let number = next, !line.contains(number) {
                line.append(number)
                next = entities[number].superentityName.flatMap { names[$0] }
            }
            return line
        }
        let positions = entities.map { entity in
            Dictionary(
                entity.relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        var dropped: [(entity: Int, relationship: Int)] = []
        for (entity, description) in entities.enumerated() {
            for (position, relationship) in description.relationships.enumerated() {
                guard let inverse = relationship.inverseName else { continue }
                let back = lineage(relationship.destinationEntityName).lazy
                    .compactMap { number in positions[number][inverse].map { entities[number].relationships[$0] } }
                    .first
                let pointsBack = back.map {
                    $0.inverseName == relationship.name && lineage($0.destinationEntityName).contains(entity)
                }
                guard pointsBack != true else { continue }
                dropped.append((entity, position))
                warn(
                    &warnings, file: file, entity: description.name, property: relationship.name,
                    message: back == nil
                        ? "its inverse '\(inverse)' does not exist; it is read as a relationship without inverse"
                        : "its inverse '\(inverse)' does not point back; it is read as a relationship without inverse")
            }
        }
        for (entity, relationship) in dropped { self.entities[entity].relationships[relationship].inverseName = nil }
        // Removing an inverse on one side makes the other side one-sided too.
        if !dropped.isEmpty { dropOneSidedInverses(&warnings, file: file) }
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
                        message: "there are several fetch indexes '\(name)'; one is read as '\(index.name)'")
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
