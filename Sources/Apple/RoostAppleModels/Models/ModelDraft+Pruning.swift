internal import RoostCore

extension ModelDraft {
    /// The maximum numbers of attempts, and of properties that all attempts together validate.
    private static let (attemptLimit, validationLimit) = (2000, 4_000_000)

    /// Removes parts that make the model invalid but do not affect stored data.
    ///
    /// Each removed part causes a warning. Building the model then reports the remaining problems.
    mutating func prune(_ warnings: inout [ModelImportWarning], file: String) {
        let propertyCount = entities.reduce(entities.count) { $0 + $1.attributes.count + $1.relationships.count }
        let limit = min(Self.attemptLimit, Self.validationLimit / max(1, propertyCount))
        var pruning = Pruning(file: file, limit: limit, problems: problems())
        for number in entities.indices {
            let name = entities[number].name
            guard pruning.problems.contains(where: { $0.entity == name }) else { continue }
            pruneAttributes(of: number, pruning: &pruning)
            pruneOtherParts(of: number, pruning: &pruning)
        }
        pruneModelParts(&pruning)
        warnings += pruning.warnings
    }

    private struct Pruning {
        let file: String
        /// The maximum number of attempts.
        let limit: Int
        var problems: [ModelProblem]
        var attempts = 0
        var warnings: [ModelImportWarning] = []
    }

    /// Tries a change, and keeps it with a warning only if it reduces the number of problems.
    private mutating func attempt(
        _ pruning: inout Pruning, entity: String?, property: String?, what: String,
        _ change: (inout ModelDraft) -> Void
    ) {
        guard !pruning.problems.isEmpty, pruning.attempts < pruning.limit else { return }
        pruning.attempts += 1
        var changed = self
        change(&changed)
        let left = changed.problems()
        guard left.count < pruning.problems.count else { return }
        let reason = pruning.problems.first { !left.contains($0) }?.message ?? ""
        self = changed
        pruning.problems = left
        warn(
            &pruning.warnings, file: pruning.file, entity: entity, property: property,
            message: "\(what) is left out: \(reason)")
    }

    private mutating func pruneAttributes(of number: Int, pruning: inout Pruning) {
        let name = entities[number].name
        for position in entities[number].attributes.indices {
            let attribute = entities[number].attributes[position]
            guard pruning.problems.contains(where: { $0.entity == name && $0.property == attribute.name }) else {
                continue
            }
            if attribute.derivationExpression != nil {
                attempt(&pruning, entity: name, property: attribute.name, what: "its derivation") {
                    $0.entities[number].attributes[position].derivationExpression = nil
                }
            }
            if !attribute.validation.isEmpty {
                attempt(&pruning, entity: name, property: attribute.name, what: "its validation") {
                    $0.entities[number].attributes[position].validation = AttributeValidation()
                }
            }
            if !attribute.defaultValue.isNull {
                attempt(&pruning, entity: name, property: attribute.name, what: "its default value") {
                    $0.entities[number].attributes[position].defaultValue = .null
                }
            }
        }
    }

    /// Prunes indexes, constraints and fetched properties, last first to keep positions valid.
    private mutating func pruneOtherParts(of number: Int, pruning: inout Pruning) {
        let name = entities[number].name
        for position in entities[number].fetchIndexes.indices.reversed() {
            let index = entities[number].fetchIndexes[position].name
            attempt(&pruning, entity: name, property: nil, what: "fetch index '\(index)'") {
                _ = $0.entities[number].fetchIndexes.remove(at: position)
            }
        }
        for position in entities[number].uniquenessConstraints.indices.reversed() {
            let names = entities[number].uniquenessConstraints[position].joined(separator: ", ")
            attempt(&pruning, entity: name, property: nil, what: "uniqueness constraint (\(names))") {
                _ = $0.entities[number].uniquenessConstraints.remove(at: position)
            }
        }
        for position in entities[number].fetchedProperties.indices.reversed() {
            let property = entities[number].fetchedProperties[position].name
            attempt(&pruning, entity: name, property: property, what: "the fetched property") {
                _ = $0.entities[number].fetchedProperties.remove(at: position)
            }
        }
    }

    private mutating func pruneModelParts(_ pruning: inout Pruning) {
        for (name, members) in configurations.sorted(by: { $0.key < $1.key }) {
            for position in members.indices.reversed() {
                attempt(
                    &pruning, entity: nil, property: nil,
                    what: "member '\(members[position])' of configuration '\(name)'"
                ) {
                    _ = $0.configurations[name]?.remove(at: position)
                }
            }
        }
        for position in fetchRequestTemplates.indices.reversed() {
            let template = fetchRequestTemplates[position].name
            attempt(&pruning, entity: nil, property: nil, what: "fetch request '\(template)'") {
                _ = $0.fetchRequestTemplates.remove(at: position)
            }
        }
    }

    private func problems() -> [ModelProblem] {
        ManagedObjectModel.problems(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
