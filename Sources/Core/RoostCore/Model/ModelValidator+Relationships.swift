extension ModelValidator {
    mutating func checkRelationship(_ relationship: RelationshipDescription, of number: Int) {
        let (entity, name) = (entities[number].name, relationship.name)
        if relationship.isOrdered, !relationship.isToMany {
            add(
                entity, property: name,
                message: "A relationship to one object has no order; make it to-many or not ordered.")
        }
        if relationship.minCount < 0 { add(entity, property: name, message: "The minimum count is negative.") }
        if let maxCount = relationship.maxCount {
            if maxCount < 1 {
                add(entity, property: name, message: "The maximum count is below 1; leave it out for no limit.")
            } else if relationship.minCount > maxCount {
                add(entity, property: name, message: "The minimum count is greater than the maximum count.")
            }
        }
        guard let destination = numbers[relationship.destinationEntityName] else {
            let wanted = relationship.destinationEntityName
            add(
                entity, property: name,
                message: "The model has no entity '\(wanted)'\(hint(wanted, among: numbers.keys))")
            return
        }
        checkInverse(of: relationship, of: number, destination: destination)
    }

    private mutating func checkInverse(of relationship: RelationshipDescription, of number: Int, destination: Int) {
        guard let inverseName = relationship.inverseName else { return }
        let (entity, name) = (entities[number].name, relationship.name)
        let place = "'\(entities[destination].name).\(inverseName)'"
        guard let (_, property) = property(inverseName, of: destination) else {
            let hint = self.hint(inverseName, among: propertyNames(of: destination))
            add(entity, property: name, message: "The inverse \(place) does not exist\(hint)")
            return
        }
        guard case .relationship(let inverse) = property else {
            add(entity, property: name, message: "The inverse \(place) is not a relationship.")
            return
        }
        guard inverse.inverseName == name else {
            let named = inverse.inverseName.map { "names '\($0)'" } ?? "has no inverse"
            add(
                entity, property: name,
                message:
                    "The inverse \(place) must name this relationship as its inverse, but \(named); correct the inverse of either relationship."
            )
            return
        }
        // The inverse's destination must declare or inherit this relationship. If that entity does not exist, the
        // check of the inverse reports it.
        guard let back = numbers[inverse.destinationEntityName] else { return }
        if !line(of: back).contains(number) {
            add(
                entity, property: name,
                message:
                    "The inverse \(place) refers to '\(inverse.destinationEntityName)', which does not have this relationship."
            )
        }
    }

    // MARK: Constraints and indexes

    mutating func checkConstraints(of number: Int) {
        let entity = entities[number]
        var seen: Set<[String]> = []
        for (position, names) in entity.uniquenessConstraints.enumerated() {
            let place = "Uniqueness constraint \(position + 1)"
            if names.isEmpty { add(entity.name, message: "\(place) names no attribute.") }
            if Set(names).count < names.count { add(entity.name, message: "\(place) names a property twice.") }
            if !seen.insert(names).inserted {
                add(entity.name, message: "\(place) lists the same properties as an earlier constraint.")
            }
            for name in names {
                if let problem = keyProblem(name, of: number) { add(entity.name, message: "\(place): \(problem)") }
            }
        }
    }

    mutating func checkIndexes(of number: Int) {
        let entity = entities[number]
        var seen: Set<String> = []
        for index in entity.fetchIndexes {
            let place = "Fetch index '\(index.name)'"
            for problem in Self.labelProblems(index.name) { add(entity.name, message: "\(place): its \(problem)") }
            if !seen.insert(index.name).inserted {
                add(entity.name, message: "Two fetch indexes have the name '\(index.name)'.")
            }
            if index.elements.isEmpty { add(entity.name, message: "\(place) has no elements.") }
            if Set(index.elements.map(\.collation)).count > 1 {
                add(entity.name, message: "\(place) mixes binary and rTree elements.")
            }
            let names = index.elements.filter { $0.expression == nil }.map(\.property)
            if Set(names).count < names.count { add(entity.name, message: "\(place) names a property twice.") }
            for element in index.elements where element.expression == nil {
                if let problem = keyProblem(element.property, of: number) {
                    add(entity.name, message: "\(place): \(problem)")
                } else if element.collation == .rTree, !isNumber(element.property, of: number) {
                    add(
                        entity.name,
                        message: "\(place): '\(element.property)' is not a number; an rTree holds numbers only.")
                }
            }
        }
    }

    /// Returns why a property cannot be part of a constraint or an index, or nil.
    private func keyProblem(_ path: String, of number: Int) -> String? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, let (_, property) = property(first, of: number) else {
            return "the entity has no property '\(path)'\(hint(path, among: propertyNames(of: number)))"
        }
        switch property {
        case .fetched: return "'\(path)' is a fetched property."
        case .relationship(let relationship):
            if parts.count > 1 { return "'\(path)' leads through a relationship." }
            if relationship.isToMany { return "'\(path)' is a to-many relationship." }
            return relationship.isTransient ? "'\(path)' is transient." : nil
        case .attribute(let attribute):
            guard let last = element(parts.dropFirst(), of: attribute) else {
                return "the composite '\(first)' has no element '\(path)'."
            }
            if attribute.isTransient { return "'\(path)' is transient." }
            return last.type == .composite ? "'\(path)' is a composite; name its elements." : nil
        }
    }

    private func element(_ path: ArraySlice<String>, of attribute: AttributeDescription) -> AttributeDescription? {
        var current = attribute
        for part in path {
            guard let next = current.elements.first(where: { $0.name == part }) else { return nil }
            current = next
        }
        return current
    }

    private func isNumber(_ path: String, of number: Int) -> Bool {
        let parts = path.split(separator: ".").map(String.init)
        guard let first = parts.first, case .attribute(let attribute)? = property(first, of: number)?.property else {
            return false
        }
        return element(parts.dropFirst(), of: attribute)?.type.isNumber ?? false
    }
}
