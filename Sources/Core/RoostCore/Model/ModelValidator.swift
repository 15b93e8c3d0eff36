/// Finds the problems in a model's description.
///
/// The following is valid, because Core Data allows it: relationships without an inverse, transient
/// attributes without a type, names that differ only in case, and mandatory attributes without a
/// default.
package struct ModelValidator {
    /// The maximum number of entities in a model, and of fields in an entity's records.
    ///
    /// A record stores its entity number and its field count in two bytes each.
    static let maximumCount = Int(UInt16.max)
    /// The maximum sum of all entities' field counts, and the maximum sum of their depths.
    ///
    /// A root has depth 1. The limit bounds the size of a built model, because each entity contains
    /// all inherited fields.
    package static let maximumInheritedCount = 1_000_000
    static let maximumCompositeDepth = 16
    static let reservedNames: Set<String> = [
        "description", "hash", "entity", "objectID", "isDeleted", "isInserted", "isUpdated", "isFault", "hasChanges",
        "managedObjectContext", "self",
    ]

    enum Property {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription)
        case fetched
    }

    /// Returns the problems of a model.
    ///
    /// If names are too long or the model is too large, other problems are not reported.
    static func problems(
        entities: [EntityDescription], configurations: [String: [String]],
        fetchRequestTemplates: [FetchRequestTemplate]
    ) -> [ModelProblem] {
        var validator = ModelValidator(entities)
        validator.checkModel()
        guard validator.isBounded else { return validator.problems }
        for number in entities.indices { validator.checkEntity(number) }
        validator.checkGroups(configurations, templates: fetchRequestTemplates)
        return validator.problems
    }

    let entities: [EntityDescription]
    /// The entity number of the first entity with each name.
    let numbers: [String: Int]
    /// The entity number of each entity's superentity.
    let parents: [Int?]
    /// The properties that each entity itself declares.
    let properties: [[String: Property]]
    var problems: [ModelProblem] = []
    /// An upper bound for the number of fields in each entity's records, including inherited ones.
    private var fieldCounts: [Int] = []
    private var isBounded = true

    private init(_ entities: [EntityDescription]) {
        self.entities = entities
        let numbers = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.numbers = numbers
        parents = entities.map { $0.superentityName.flatMap { numbers[$0] } }
        properties = entities.map { entity in
            var result: [String: Property] = [:]
            for attribute in entity.attributes { result[attribute.name] = .attribute(attribute) }
            for relationship in entity.relationships { result[relationship.name] = .relationship(relationship) }
            for property in entity.fetchedProperties { result[property.name] = .fetched }
            return result
        }
    }

    mutating func add(_ entity: String?, property: String?, message: String) {
        problems.append(ModelProblem(entity: entity, property: property, message: message))
    }

    mutating func add(_ entity: String?, message: String) { add(entity, property: nil, message: message) }

    /// Returns the end of a message about an unknown name: `; did you mean 'Track'?` if a known
    /// name is similar, otherwise a period.
    package static func hint(_ name: String, among names: some Sequence<String>) -> String {
        nearestName(to: name, among: Array(names)).map { "; did you mean '\($0)'?" } ?? "."
    }

    /// Returns the hint for an unknown name, or only a period if there are already 100 problems.
    ///
    /// The search for a hint compares every name, which is slow for a hostile model.
    func hint(_ name: String, among names: some Sequence<String>) -> String {
        problems.count < 100 ? Self.hint(name, among: names) : "."
    }

    // MARK: Inheritance

    /// Returns the entity numbers of an entity and its superentities, up to the root or to a cycle.
    func line(of number: Int) -> [Int] {
        var line = [number]
        var seen: Set<Int> = [number]
        while let last = line.last, let parent = parents[last], seen.insert(parent).inserted { line.append(parent) }
        return line
    }

    /// Returns the property that the entity declares or inherits.
    func property(_ name: String, of number: Int) -> (declaredBy: Int, property: Property)? {
        for ancestor in line(of: number) {
            if let property = properties[ancestor][name] { return (ancestor, property) }
        }
        return nil
    }

    func propertyNames(of number: Int) -> [String] { line(of: number).flatMap { properties[$0].keys.sorted() } }

    /// Checks the lengths of names and the size of the model, which bound the cost of other checks.
    private mutating func checkModel() {
        checkNameLengths()
        guard isBounded else { return }
        guard entities.count <= Self.maximumCount else {
            add(nil, message: "A model has at most \(Self.maximumCount) entities, not \(entities.count).")
            isBounded = false
            return
        }
        var depths = entities.map { _ in 0 }
        fieldCounts = entities.map { entity in
            // A relationship has at most two fields: a reference, and a place in an ordered inverse.
            entity.attributes.reduce(0) { $0 + Self.fieldCount($1, depth: 0) } + entity.relationships.count * 2
                + entity.fetchedProperties.count
        }
        for number in entities.indices { measure(number, depths: &depths) }
        if depths.reduce(0, +) > Self.maximumInheritedCount || fieldCounts.reduce(0, +) > Self.maximumInheritedCount {
            add(
                nil,
                message:
                    "The entities have too many superentities or inherited properties; make the hierarchy flatter.")
            isBounded = false
        }
    }

    /// Reports names that are too long.
    ///
    /// If a name is too long, all other checks are skipped: their messages would contain it.
    private mutating func checkNameLengths() {
        for entity in entities {
            if Self.isTooLong(entity.name) { add(entity.name, message: "The entity's \(Self.lengthProblem)") }
            let names =
                entity.attributes.flatMap { Self.names(of: $0, depth: 0) } + entity.relationships.map(\.name)
                + entity.fetchedProperties.map(\.name)
            for name in names where Self.isTooLong(name) {
                add(entity.name, property: name, message: "The property's \(Self.lengthProblem)")
            }
        }
        isBounded = problems.isEmpty
    }

    private static func names(of attribute: AttributeDescription, depth: Int) -> [String] {
        guard depth <= maximumCompositeDepth, !attribute.elements.isEmpty else { return [attribute.name] }
        return [attribute.name] + attribute.elements.flatMap { names(of: $0, depth: depth + 1) }
    }

    /// Sets the depths of an entity and its superentities, and adds inherited fields to
    /// ``fieldCounts``.
    ///
    /// Does not recurse, because a hierarchy can be very deep.
    private mutating func measure(_ number: Int, depths: inout [Int]) {
        var open: [Int] = []
        var isOpen: Set<Int> = []
        var next: Int? = number
        while let current = next, depths[current] == 0, isOpen.insert(current).inserted {
            open.append(current)
            next = parents[current]
        }
        // The walk stops at a cycle, which other checks report.
        var above = next.flatMap { depths[$0] > 0 ? $0 : nil }
        for entity in open.reversed() {
            depths[entity] = 1 + (above.map { depths[$0] } ?? 0)
            fieldCounts[entity] += above.map { fieldCounts[$0] } ?? 0
            above = entity
        }
    }

    // MARK: Entities

    private mutating func checkEntity(_ number: Int) {
        let entity = entities[number]
        if numbers[entity.name] != number { add(entity.name, message: "Another entity has this name too.") }
        for problem in Self.nameProblems(entity.name) { add(entity.name, message: "The entity's \(problem)") }
        checkSuperentity(number)
        checkPropertyNames(number)
        for attribute in entity.attributes { checkAttribute(attribute, of: number) }
        for relationship in entity.relationships { checkRelationship(relationship, of: number) }
        for property in entity.fetchedProperties where numbers[property.entityName] == nil {
            add(
                entity.name, property: property.name,
                message:
                    "The model has no entity '\(property.entityName)'\(hint(property.entityName, among: numbers.keys))"
            )
        }
        checkConstraints(of: number)
        checkIndexes(of: number)
        if fieldCounts[number] > Self.maximumCount {
            add(
                entity.name,
                message: "The entity has more stored properties than a record can have (\(Self.maximumCount)).")
        }
    }

    private mutating func checkSuperentity(_ number: Int) {
        let entity = entities[number]
        guard let name = entity.superentityName else { return }
        guard numbers[name] != nil else {
            add(
                entity.name,
                message: "The model has no entity '\(name)' to inherit from\(hint(name, among: numbers.keys))")
            return
        }
        let line = line(of: number)
        if let last = line.last, parents[last] == number {
            let names = (line + [number]).map { entities[$0].name }
            add(entity.name, message: "The entity inherits from itself: \(names.prefix(20).joined(separator: " → ")).")
        }
    }

    private mutating func checkPropertyNames(_ number: Int) {
        let entity = entities[number]
        let ancestors = line(of: number).dropFirst()
        let names =
            entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
        var seen: Set<String> = []
        for name in names {
            for problem in Self.nameProblems(name) {
                add(entity.name, property: name, message: "The property's \(problem)")
            }
            if Self.reservedNames.contains(name) {
                add(
                    entity.name, property: name,
                    message: "The name is reserved: every object has something of that name. Choose another.")
            }
            if !seen.insert(name).inserted {
                add(entity.name, property: name, message: "Another property of the entity has this name too.")
            }
            if let ancestor = ancestors.first(where: { properties[$0][name] != nil }) {
                add(
                    entity.name, property: name,
                    message: "The entity inherits a property of this name from '\(entities[ancestor].name)'.")
            }
        }
    }

    private static func fieldCount(_ attribute: AttributeDescription, depth: Int) -> Int {
        guard depth <= maximumCompositeDepth else { return 1 }
        return attribute.elements.reduce(1) { $0 + fieldCount($1, depth: depth + 1) }
    }

    // MARK: Groups of entities

    private mutating func checkGroups(
        _ configurations: [String: [String]], templates: [FetchRequestTemplate]
    ) {
        for (name, members) in configurations.sorted(by: { ModelResolver.precedes($0.key, $1.key) }) {
            for problem in Self.labelProblems(name) { add(nil, message: "Configuration '\(name)': its \(problem)") }
            var seen: Set<String> = []
            for member in members {
                if numbers[member] == nil {
                    add(
                        nil,
                        message:
                            "Configuration '\(name)': the model has no entity '\(member)'\(hint(member, among: numbers.keys))"
                    )
                }
                if !seen.insert(member).inserted {
                    add(nil, message: "Configuration '\(name)' lists entity '\(member)' twice.")
                }
            }
        }
        var seen: Set<String> = []
        for template in templates {
            let name = template.name
            for problem in Self.labelProblems(name) {
                add(nil, message: "Fetch request template '\(name)': its \(problem)")
            }
            if !seen.insert(name).inserted { add(nil, message: "Two fetch request templates have the name '\(name)'.") }
            if numbers[template.entityName] == nil {
                let hint = self.hint(template.entityName, among: numbers.keys)
                add(
                    nil,
                    message: "Fetch request template '\(name)': the model has no entity '\(template.entityName)'\(hint)"
                )
            }
        }
    }
}
