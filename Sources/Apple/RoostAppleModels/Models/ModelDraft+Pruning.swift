internal import RoostCore

extension ModelDraft {
    /// The maximum number of tries, and of properties in all tries together: each try validates the
    /// whole model.
    private static let (attemptLimit, validationLimit) = (2000, 4_000_000)

    /// Leaves out, with a warning each, the parts without which the model is valid and that decide
    /// nothing about stored data: limits, defaults, derivations, indexes, constraints, fetched
    /// properties, members of configurations, stored requests.
    ///
    /// Only what makes a problem go away is left out. What else is wrong stays, and building the
    /// model reports it.
    mutating func prune(_ warnings: inout [ModelImportWarning], file: String) {
        var problems = problems()
        var attempts = 0
        let propertyCount = entities.reduce(entities.count) { $0 + $1.attributes.count + $1.relationships.count }
        let limit = min(Self.attemptLimit, Self.validationLimit / max(1, propertyCount))

        /// Makes a change if that lessens the problems, and returns whether it did.
        func attempt(
            _ draft: inout ModelDraft, entity: String?, property: String?, what: String,
            _ change: (inout ModelDraft) -> Void
        ) -> Bool {
            guard !problems.isEmpty, attempts < limit else { return false }
            attempts += 1
            var changed = draft
            change(&changed)
            let left = changed.problems()
            guard left.count < problems.count else { return false }
            let reason = problems.first { !left.contains($0) }?.message ?? ""
            draft = changed
            problems = left
            draft.warn(
                &warnings, file: file, entity: entity, property: property, message: "\(what) is left out: \(reason)")
            return true
        }

        for number in entities.indices where problems.contains(where: { $0.entity == entities[number].name }) {
            let name = entities[number].name
            for position in entities[number].attributes.indices {
                let attribute = entities[number].attributes[position]
                guard problems.contains(where: { $0.entity == name && $0.property == attribute.name }) else { continue }
                if attribute.derivationExpression != nil {
                    _ = attempt(&self, entity: name, property: attribute.name, what: "its derivation") {
                        $0.entities[number].attributes[position].derivationExpression = nil
                    }
                }
                if !attribute.validation.isEmpty {
                    _ = attempt(&self, entity: name, property: attribute.name, what: "its validation") {
                        $0.entities[number].attributes[position].validation = AttributeValidation()
                    }
                }
                if !attribute.defaultValue.isNull {
                    _ = attempt(&self, entity: name, property: attribute.name, what: "its default value") {
                        $0.entities[number].attributes[position].defaultValue = .null
                    }
                }
            }
            // From the end, so that positions stay right.
            for position in entities[number].fetchIndexes.indices.reversed() {
                _ = attempt(
                    &self, entity: name, property: nil,
                    what: "fetch index '\(entities[number].fetchIndexes[position].name)'"
                ) {
                    _ = $0.entities[number].fetchIndexes.remove(at: position)
                }
            }
            for position in entities[number].uniquenessConstraints.indices.reversed() {
                let names = entities[number].uniquenessConstraints[position].joined(separator: ", ")
                _ = attempt(&self, entity: name, property: nil, what: "uniqueness constraint (\(names))") {
                    _ = $0.entities[number].uniquenessConstraints.remove(at: position)
                }
            }
            for position in entities[number].fetchedProperties.indices.reversed() {
                let property = entities[number].fetchedProperties[position].name
                _ = attempt(&self, entity: name, property: property, what: "the fetched property") {
                    _ = $0.entities[number].fetchedProperties.remove(at: position)
                }
            }
        }
        for (name, members) in configurations {
            for position in members.indices.reversed() {
                _ = attempt(
                    &self, entity: nil, property: nil, what: "member '\(members[position])' of configuration '\(name)'"
                ) {
                    _ = $0.configurations[name]?.remove(at: position)
                }
            }
        }
        for position in fetchRequestTemplates.indices.reversed() {
            _ = attempt(
                &self, entity: nil, property: nil, what: "fetch request '\(fetchRequestTemplates[position].name)'"
            ) {
                _ = $0.fetchRequestTemplates.remove(at: position)
            }
        }
    }

    private func problems() -> [ModelProblem] {
        ManagedObjectModel.problems(
            entities: entities, configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
