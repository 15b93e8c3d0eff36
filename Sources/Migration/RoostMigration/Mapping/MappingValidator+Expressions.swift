internal import RoostCore
internal import RoostQuery

extension MappingValidator {
    struct Place {
        let mapping: EntityMapping
        let property: String
        /// The entity of `$source`, or nil if it is missing or unknown.
        let origin: Entity?
    }

    private static let managerFunctions = [
        MappingFunction.destinationInstances.rawValue, MappingFunction.relatedInstances.rawValue,
    ]

    // MARK: Values

    mutating func check(
        _ expression: FetchRequest.Expression, in place: Place, for attribute: AttributeDescription
    ) {
        let parts = MappingExpressionParts(of: expression)
        let isFine = checkParts(parts, in: place)
        if let call = parts.calls.first(where: { Self.managerFunctions.contains($0.name) }) {
            add(
                place.mapping, property: place.property,
                message:
                    "'\(call.name)' gives objects, and an attribute cannot hold any; ask the policy for a value instead."
            )
            return
        }
        guard isFine else { return }
        if case .variable(let name) = expression, let variable = MappingVariable(rawValue: name), variable != .source {
            return check(variable, in: place, for: attribute)
        }
        guard let type = type(of: expression, in: place) else { return }
        if type.isCollection {
            add(
                place.mapping, property: place.property,
                message: "The expression has many values, and the attribute can hold one.")
        } else if !type.fits(attribute.type) {
            add(
                place.mapping, property: place.property,
                message:
                    "The expression gives \(type.kind.rawValue) values, and the attribute holds \(attribute.type.name); write a CAST around it."
            )
        }
    }

    /// Checks an attribute whose value is a variable, such as the ID of the new object.
    private mutating func check(_ variable: MappingVariable, in place: Place, for attribute: AttributeDescription) {
        switch variable {
        case .destination where attribute.type == .objectID: return
        case .entityMapping where attribute.type == .string, .propertyMapping where attribute.type == .string: return
        case .destination, .entityMapping, .propertyMapping:
            let kind = variable == .destination ? "the ID of the new object" : "a name"
            add(
                place.mapping, property: place.property,
                message:
                    "'$\(variable.rawValue)' is \(kind), and the attribute holds \(attribute.type.name); ask the policy for a value instead."
            )
        case .source, .manager, .entityPolicy:
            add(
                place.mapping, property: place.property,
                message:
                    "'$\(variable.rawValue)' has no value that an attribute can hold; use one of its properties or functions."
            )
        }
    }

    mutating func check(
        _ expression: FetchRequest.Expression, in place: Place, for relationship: ManagedObjectModel.Relationship
    ) {
        let parts = MappingExpressionParts(of: expression)
        guard checkParts(parts, in: place) else { return }
        if parts.calls.contains(where: { Self.managerFunctions.contains($0.name) }) {
            checkTargets(of: parts.calls, in: place, for: relationship)
        } else if let type = type(of: expression, in: place), type.kind != .null {
            add(
                place.mapping, property: place.property,
                message:
                    "The expression gives values of the source, but the relationship needs objects of the destination; write destinationInstances(ofEntityMapping:from:) or relatedInstances(ofSourceRelationship:) around it."
            )
        }
    }

    /// Returns the type of an expression that is evaluated on the source object.
    ///
    /// Returns nil if a policy or the manager provides the value, or after adding a problem.
    private mutating func type(of expression: FetchRequest.Expression, in place: Place) -> PredicateType? {
        guard let expression = expression.ofSourceObject() else { return nil }
        // An expression without the source object can be checked with any entity.
        guard let entity = place.origin ?? source.entities.first else { return nil }
        do throws(StoreError) {
            return try CompiledExpression(expression, for: entity.name, model: source).type
        } catch {
            add(place.mapping, property: place.property, message: "The expression: \(error.message)")
            return nil
        }
    }

    // MARK: Names

    /// Checks variables and functions, and returns whether all are valid.
    private mutating func checkParts(_ parts: MappingExpressionParts, in place: Place) -> Bool {
        let count = problems.count
        if parts.hasBareNames {
            add(
                place.mapping, property: place.property,
                message: "The expression has a name without an object; write $source before it, as in $source.title.")
        }
        var seen: Set<String> = []
        for name in parts.variables where seen.insert(name).inserted {
            guard let variable = MappingVariable(rawValue: name) else {
                let known = MappingVariable.allCases.map(\.rawValue)
                let near = nearestName(to: name, among: known).map { "; did you mean '$\($0)'?" }
                add(
                    place.mapping, property: place.property,
                    message:
                        "Unknown variable '$\(name)'\(near ?? "; the variables are \(known.map { "$" + $0 }.joined(separator: ", ")).")"
                )
                continue
            }
            if variable == .source, place.mapping.sourceEntity == nil {
                add(
                    place.mapping, property: place.property,
                    message: "The mapping has no source entity, so there is no $source.")
            }
        }
        for name in parts.pathVariables.sorted() where MappingVariable(rawValue: name) != nil {
            add(
                place.mapping, property: place.property,
                message:
                    "'$\(name)' has no properties that an expression can use; use a property of $source, or let a policy give the value."
            )
        }
        for call in parts.calls { check(call, in: place) }
        return problems.count == count
    }

    private mutating func check(_ call: MappingExpressionParts.Call, in place: Place) {
        switch call.target {
        case .variable(MappingVariable.entityPolicy.rawValue):
            if place.mapping.policyName == nil {
                add(
                    place.mapping, property: place.property,
                    message:
                        "'\(call.name)' is a function of the policy, but the mapping has no policy; name a policy in the mapping."
                )
            }
        case .variable(MappingVariable.manager.rawValue): checkManager(call, in: place)
        default: checkFree(call, in: place)
        }
    }

    private mutating func checkManager(_ call: MappingExpressionParts.Call, in place: Place) {
        guard let function = MappingFunction(rawValue: call.name), function != .value else {
            let near = nearestName(to: call.name, among: Self.managerFunctions).map { "; did you mean '\($0)'?" }
            add(
                place.mapping, property: place.property,
                message:
                    "The manager has no function '\(call.name)'\(near ?? "; it has \(Self.managerFunctions.joined(separator: ", ")).")"
            )
            return
        }
        guard call.arguments.count == 2, case .constant(.string(let name)) = call.arguments[0] else {
            add(
                place.mapping, property: place.property,
                message: "'\(call.name)' takes two arguments: a name as a constant string, and objects of the source.")
            return
        }
        if function == .destinationInstances {
            guard mappings[name] == nil else { return }
            let hint = hint(name, among: model.entityMappings.map(\.name))
            add(
                place.mapping, property: place.property,
                message: "The mapping model has no entity mapping '\(name)'\(hint)")
        } else if let origin = place.origin, origin.relationship(name) == nil {
            let hint = hint(name, among: origin.relationships.map(\.name.name))
            add(
                place.mapping, property: place.property,
                message: "Source entity '\(origin.name)' has no relationship '\(name)'\(hint)")
        } else if call.arguments[1].lastName != name {
            add(
                place.mapping, property: place.property,
                message:
                    "'\(call.name)' names the relationship '\(name)', but its second argument contains other objects; write $source.\(name), or name the relationship that the objects come from."
            )
        }
    }

    /// Checks a call on an object, or a call of a function that the program registered.
    private mutating func checkFree(_ call: MappingExpressionParts.Call, in place: Place) {
        if call.name == MappingFunction.value.rawValue {
            guard call.arguments.count == 1, case .constant(.string) = call.arguments[0] else {
                add(
                    place.mapping, property: place.property,
                    message: "'\(call.name)' takes one argument, the name of a property as a constant string.")
                return
            }
            return
        }
        guard RegisteredFunction.named(call.name) == nil else { return }
        let arguments = call.target.map { [$0] + call.arguments } ?? call.arguments
        if let error = FetchRequest.Expression.registered(call.name, arguments).readingError {
            return add(place.mapping, property: place.property, message: error.message)
        }
        let known = RegisteredFunction.names + MappingFunction.allCases.map(\.rawValue)
        add(
            place.mapping, property: place.property,
            message:
                "Unknown function '\(call.name)'\(nearestName(to: call.name, among: known).map { "; did you mean '\($0)'?" } ?? "; call a function of the policy on $entityPolicy, and register a function of the program first.")"
        )
    }

    // MARK: Objects

    /// Checks that the relationship can refer to the objects that the manager returns.
    private mutating func checkTargets(
        of calls: [MappingExpressionParts.Call], in place: Place, for relationship: ManagedObjectModel.Relationship
    ) {
        let target = destination.entities[relationship.destination]
        for call in calls where call.name == MappingFunction.destinationInstances.rawValue {
            guard case .constant(.string(let name))? = call.arguments.first else { continue }
            if let made = mappings[name]?.destinationEntity.flatMap(destination.entity), !target.includes(made.number) {
                add(
                    place.mapping, property: place.property,
                    message:
                        "The entity mapping '\(name)' makes objects of '\(made.name)', but the relationship's destination is '\(target.name)'."
                )
            } else if call.arguments.count == 2, call.arguments[1] != .constant(.null) {
                checkObjects(call.arguments[1], for: name, in: place)
            }
        }
    }

    /// Checks that the named entity mapping can read the source objects in a call.
    private mutating func checkObjects(_ objects: FetchRequest.Expression, for name: String, in place: Place) {
        guard let type = type(of: objects, in: place), type.kind != .null else { return }
        guard type.kind == .object else {
            add(
                place.mapping, property: place.property,
                message:
                    "The expression gives \(type.kind.rawValue) values, but the entity mapping '\(name)' takes objects; give it the destinations of a relationship of the source."
            )
            return
        }
        guard let given = type.entity.map({ source.entities[$0] }),
            let taken = mappings[name]?.sourceEntity.flatMap(source.entity),
            !given.includes(taken.number), !taken.includes(given.number)
        else { return }
        add(
            place.mapping, property: place.property,
            message:
                "The expression gives objects of '\(given.name)', but the entity mapping '\(name)' takes objects of '\(taken.name)'; name a mapping that takes objects of '\(given.name)'."
        )
    }
}

extension FetchRequest.Expression {
    /// The last property of a path from the source object, or nil for another expression.
    fileprivate var lastName: String? {
        if case .keyPath(let names)? = ofSourceObject() { names.last } else { nil }
    }
}

extension PredicateType {
    /// Returns whether a value of this type can be converted to an attribute's type.
    fileprivate func fits(_ type: AttributeType) -> Bool {
        switch type {
        case .undefined: true
        case .binaryData, .transformable: [.data, .transformable, .null].contains(family)
        default: family == .null || family == Kind(type).family
        }
    }
}
