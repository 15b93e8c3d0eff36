internal import RoostCore
internal import RoostQuery

/// The context in which a function of a policy is called.
struct PolicyCall {
    let source: SourceObject
    let destination: ObjectID
    let property: PropertyMapping
    let mapping: PolicyMapping
}

/// A value expression of a mapping, which can call functions of the policy.
indirect enum PolicyExpression {
    case constant(Value)
    /// An uncompiled expression on the source object.
    case own(FetchRequest.Expression)
    case compiled(ExpressionEvaluator, isCollection: Bool)
    case destination
    /// A function of the policy.
    case function(String, [PolicyExpression])
    /// An expression in which variables replace parts that are evaluated first, such as policy
    /// functions.
    case nested(FetchRequest.Expression, [(name: String, value: PolicyExpression)])

    /// Parses a value expression.
    ///
    /// - Throws: `invalidMappingModel` if the expression gives no attribute value.
    init(_ expression: FetchRequest.Expression, mapping: String, property: String) throws(StoreError) {
        if let own = expression.ofSourceObject() {
            if case .constant(let value) = own { self = .constant(value) } else { self = .own(own) }
            return
        }
        switch expression {
        case .variable(MappingVariable.destination.rawValue): self = .destination
        case .variable(MappingVariable.entityMapping.rawValue): self = .constant(.string(mapping))
        case .variable(MappingVariable.propertyMapping.rawValue): self = .constant(.string(property))
        case .variable(MappingVariable.manager.rawValue), .variable(MappingVariable.entityPolicy.rawValue):
            self = .constant(.null)
        case .registered(let name, let arguments)
        where arguments.first == .variable(MappingVariable.entityPolicy.rawValue):
            var parts: [PolicyExpression] = []
            for argument in arguments.dropFirst() {
                parts.append(try PolicyExpression(argument, mapping: mapping, property: property))
            }
            self = .function(name, parts)
        default:
            var values: [(name: String, value: PolicyExpression)] = []
            let outer = try expression.replacing { (part) throws(StoreError) in
                switch part {
                case .variable(MappingVariable.entityMapping.rawValue),
                    .variable(MappingVariable.propertyMapping.rawValue),
                    .variable(MappingVariable.destination.rawValue):
                    break
                case .registered(_, let arguments)
                where arguments.first == .variable(MappingVariable.entityPolicy.rawValue):
                    break
                default: return nil
                }
                let name = "roost.policy.\(values.count)"
                values.append((name, try PolicyExpression(part, mapping: mapping, property: property)))
                return .variable(name)
            }
            guard !values.isEmpty else {
                throw StoreError(
                    .invalidMappingModel,
                    "Mapping '\(mapping)', '\(property)': the expression has no value that an attribute can hold; give it a value of the source or of the policy."
                )
            }
            self = .nested(outer, values)
        }
    }

    func compiled(for entity: EntityName, source: MigrationSource) throws(StoreError) -> Self {
        switch self {
        case .own(let expression):
            let compiled = try CompiledExpression(expression, for: entity, model: source.model)
            return .compiled(compiled.evaluator(over: source.objectGraph), isCollection: compiled.isCollection)
        case .function(let name, let arguments):
            var parts: [PolicyExpression] = []
            for argument in arguments { parts.append(try argument.compiled(for: entity, source: source)) }
            return .function(name, parts)
        case .nested(let outer, let values):
            var parts: [(name: String, value: PolicyExpression)] = []
            for (name, value) in values { parts.append((name, try value.compiled(for: entity, source: source))) }
            return .nested(outer, parts)
        default: return self
        }
    }

    func value(_ call: PolicyCall, session: MigrationSession) throws -> Value {
        try values(call, session: session).first ?? .null
    }

    private func values(_ call: PolicyCall, session: MigrationSession) throws -> [Value] {
        switch self {
        case .constant(let value): return [value]
        case .own: return []
        case .compiled(let evaluator, _):
            return try call.source.batch.records.withRecord(at: call.source.index) { (record) throws(StoreError) in
                try evaluator.values(of: record)
            }
        case .destination: return [.objectID(call.destination)]
        case .function(let name, let arguments):
            var given: [Value] = []
            for argument in arguments {
                let values = try argument.values(call, session: session)
                // An expression without a value passes null, but an empty collection passes no argument.
                given += values.isEmpty && !argument.isCollection ? [.null] : values
            }
            guard let policy = call.mapping.policy else {
                throw StoreError(
                    .invalidMappingModel,
                    "Mapping '\(call.mapping.declaration.name)', '\(call.property.name)': the mapping has no policy for the function '\(name)'; name a policy in the mapping."
                )
            }
            return [
                try policy.value(
                    of: name, arguments: given, for: call.source, property: call.property, in: session)
            ]
        case .nested(let outer, let parts):
            var values: [String: Value] = [:]
            for (name, value) in parts { values[name] = try value.value(call, session: session) }
            let complete = try outer.substituting(values)
            let compiled = try CompiledExpression(
                complete, for: call.source.id.entity, model: session.sourceModel
            ).evaluator(over: session.source.objectGraph)
            return try call.source.batch.records.withRecord(at: call.source.index) { (record) throws(StoreError) in
                try compiled.values(of: record)
            }
        }
    }

    private var isCollection: Bool {
        if case .compiled(_, let isCollection) = self { isCollection } else { false }
    }
}

extension FetchRequest.Expression {
    /// Returns the expression with `$source` replaced by the evaluated object, and parts by the
    /// results of `replacement`.
    ///
    /// A part that uses a variable bound by a SUBQUERY cannot be evaluated in advance, so
    /// `replacement` throws for it.
    fileprivate func replacing(
        _ replacement: (Self) throws(StoreError) -> Self?
    ) throws(StoreError) -> Self {
        if let own = ofSourceObject() { return own }
        if let other = try replacement(self) { return other }
        func all(_ members: [Self]) throws(StoreError) -> [Self] {
            var result: [Self] = []
            for member in members { result.append(try member.replacing(replacement)) }
            return result
        }
        switch self {
        case .constant, .evaluatedObject, .keyPath, .variable: return self
        case .path(let base, let names): return .path(of: try base.replacing(replacement), names)
        case .aggregate(let members): return .aggregate(try all(members))
        case .function(let function, let arguments): return .function(function, try all(arguments))
        case .registered(let name, let arguments): return .registered(name, try all(arguments))
        case .cast(let operand, let type): return .cast(try operand.replacing(replacement), type)
        case .subquery(let collection, let variable, let predicate):
            return .subquery(
                try collection.replacing(replacement), variable: variable, try predicate.replacing(replacement))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try condition.replacing(replacement), try first.replacing(replacement),
                try second.replacing(replacement))
        case .element(let base, .position(let position)):
            return .element(
                of: try base.replacing(replacement), .position(try position.replacing(replacement)))
        case .element(let base, let index): return .element(of: try base.replacing(replacement), index)
        case .setOperation(let operation, let first, let second):
            return .setOperation(operation, try first.replacing(replacement), try second.replacing(replacement))
        }
    }
}

extension FetchRequest.Predicate {
    fileprivate func replacing(
        _ replacement: (FetchRequest.Expression) throws(StoreError) -> FetchRequest.Expression?
    ) throws(StoreError) -> Self {
        func all(_ members: [Self]) throws(StoreError) -> [Self] {
            var result: [Self] = []
            for member in members { result.append(try member.replacing(replacement)) }
            return result
        }
        switch self {
        case .constant: return self
        case .comparison(var comparison):
            comparison.left = try comparison.left.replacing(replacement)
            comparison.right = try comparison.right.replacing(replacement)
            return .comparison(comparison)
        case .and(let members): return .and(try all(members))
        case .or(let members): return .or(try all(members))
        case .not(let member): return .not(try member.replacing(replacement))
        }
    }
}
