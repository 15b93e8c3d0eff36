package import RoostCore

/// The order in which to compute the derived attributes of all objects of a model.
package struct DerivedSteps: Sendable {
    /// The attributes, by step and then by entity number.
    ///
    /// An attribute depends only on attributes of earlier steps.
    package private(set) var steps: [[[DerivedAttributes.Attribute]]] = []
    /// The attributes without a step, by entity number.
    ///
    /// Each one depends on a circle of attributes.
    package private(set) var circular: [[DerivedAttributes.Attribute]]

    package init(_ derived: DerivedAttributes, of model: ManagedObjectModel) {
        let all = Array(derived.attributes.joined())
        let none = [[DerivedAttributes.Attribute]](repeating: [], count: derived.attributes.count)
        circular = none
        var positions = [[String: Int]](repeating: [:], count: derived.attributes.count)
        for (position, attribute) in all.enumerated() {
            positions[attribute.entity][attribute.field.name] = position
        }
        // For each attribute, its dependents, and the number of its sources without a step.
        var dependents = [[Int]](repeating: [], count: all.count)
        var openCounts = [Int](repeating: 0, count: all.count)
        for (position, attribute) in all.enumerated() {
            guard let name = attribute.sourceName else { continue }
            let last = attribute.path.last?.destination ?? attribute.entity
            for number in model.entities[last].selfAndSubentities {
                guard let source = positions[number][name] else { continue }
                dependents[source].append(position)
                openCounts[position] += 1
            }
        }
        var current = all.indices.filter { openCounts[$0] == 0 }
        while !current.isEmpty {
            var step = none
            var next: [Int] = []
            for position in current {
                step[all[position].entity].append(all[position])
                for dependent in dependents[position] {
                    openCounts[dependent] -= 1
                    if openCounts[dependent] == 0 { next.append(dependent) }
                }
            }
            steps.append(step)
            current = next
        }
        for (position, attribute) in all.enumerated() where openCounts[position] > 0 {
            circular[attribute.entity].append(attribute)
        }
    }

    /// Removes the attributes that depend on other objects, directly or through another attribute.
    package mutating func removeAttributesReadingOtherObjects() {
        var removed = [Set<String>](repeating: [], count: circular.count)
        for step in steps.indices {
            for number in steps[step].indices {
                steps[step][number].removeAll { attribute in
                    let isOwn =
                        attribute.path.isEmpty && !(attribute.sourceName.map(removed[number].contains) ?? false)
                    if !isOwn { removed[number].insert(attribute.field.name) }
                    return !isOwn
                }
            }
        }
    }
}
