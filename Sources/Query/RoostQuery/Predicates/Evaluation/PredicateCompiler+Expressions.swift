internal import Foundation
internal import RoostCore

extension PredicateCompiler {
    mutating func expression(_ expression: FetchRequest.Expression, depth: Int = 0) throws(StoreError) -> Term {
        try requireDepthHere(depth)
        switch expression {
        case .constant(let value):
            try requireStorable(value)
            return constant(value)
        case .evaluatedObject:
            return Term(
                node: add(.evaluatedObject), type: PredicateType(.object, entity: entity.number), isPlain: true)
        case .variable(let name): return try variable(name)
        case .keyPath(let names), .path(of: .evaluatedObject, let names):
            let resolved = try ResolvedPath(names, from: entity.number, model: model)
            try requireDepthHere(depth + resolved.relationships.count)
            return try path(resolved, names: names, from: nil)
        case .path(of: let start, let names): return try path(of: start, names: names, depth: depth)
        case .aggregate(let members): return try list(members, depth: depth)
        case .function(let function, let arguments): return try call(function, arguments: arguments, depth: depth)
        case .registered(let name, let arguments): return try registered(name, arguments: arguments, depth: depth)
        case .cast(let value, let type): return try cast(value, type: type, depth: depth)
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable: variable, predicate: predicate, depth: depth)
        case .conditional(let condition, let whenTrue, let whenFalse):
            return try conditional(condition, whenTrue: whenTrue, whenFalse: whenFalse, depth: depth)
        case .element(of: let collection, let index): return try element(of: collection, index: index, depth: depth)
        case .setOperation(let operation, let left, let right):
            return try setOperation(operation, left: left, right: right, depth: depth)
        }
    }

    /// Compiles an expression that must have a single value.
    mutating func single(
        _ expression: FetchRequest.Expression, depth: Int, in place: String
    ) throws(StoreError) -> Term {
        let term = try self.expression(expression, depth: depth)
        guard !term.type.isCollection else {
            throw invalid("\(place) needs one value, but \(describe(term, expression: expression)) has many values.")
        }
        return term
    }

    // MARK: Paths

    private mutating func path(
        _ path: ResolvedPath, names: [String], from start: Term?
    ) throws(StoreError) -> Term {
        if start == nil, path.isLocal {
            guard case .field(let field) = path.end else {
                return Term(
                    node: add(.evaluatedObject), type: PredicateType(.object, entity: entity.number), isPlain: true)
            }
            return Term(
                node: add(.field(slots(field.name, of: path.entity))), type: PredicateType(field), isPlain: true)
        }
        let isMany = start?.type.isCollection ?? false || path.relationships.contains { $0.isToMany }
        return try self.path(
            path.relationships, end: path.end, of: path.entity, collectionOperator: path.collectionOperator,
            isMany: isMany, names: names, from: start)
    }

    private mutating func path(
        _ relationships: [ManagedObjectModel.Relationship], end: ResolvedPath.End, of number: Int,
        collectionOperator: FetchRequest.CollectionOperator?, isMany: Bool, names: [String], from start: Term?
    ) throws(StoreError) -> Term {
        var steps: [PredicateProgram.Step] = []
        var lastToMany = -1
        for (position, relationship) in relationships.enumerated() {
            if relationship.isToMany {
                lastToMany = position
                steps.append(
                    .toMany(
                        relationship: relationship.number,
                        destinationRoot: model.entities[relationship.destination].root))
            } else {
                steps.append(.toOne(slots: slots(relationship.name.name, of: relationship.source)))
            }
        }
        let first = parts.steps.count
        for step in steps { add(step) }
        let slots: Int?
        var type: PredicateType
        switch end {
        case .object:
            slots = nil
            // A path without steps may start at values that are not objects.
            type = PredicateType(.object, entity: number)
            if relationships.isEmpty, let start { type = start.type.element }
        case .field(let field): (slots, type) = (self.slots(field.name, of: number), PredicateType(field))
        }
        let isOrdered =
            relationships.allSatisfy { !$0.isToMany || $0.isOrdered }
            && (start.map { !$0.type.isCollection || $0.type.isOrdered } ?? true)
        if let collectionOperator {
            type = try result(of: collectionOperator, type: type, names: names)
        } else if isMany {
            type = type.many(isOrdered: isOrdered)
        }
        // A path from one object reaches each destination of its first to-many relationship once. Later relationships
        // can reach an object repeatedly.
        let firstToMany = relationships.firstIndex(where: \.isToMany) ?? relationships.count
        let node = add(
            PredicateProgram.Path(
                start: start?.node, steps: first..<first + steps.count, slots: slots, lastToMany: lastToMany,
                collectionOperator: collectionOperator,
                firstRepetition: start?.type.isCollection ?? false ? 0 : firstToMany + 2))
        // A path without steps and without a field reads no other record.
        let isPlain = steps.isEmpty && slots == nil && start?.isPlain ?? true
        return Term(node: node, type: type, isPlain: isPlain)
    }

    private func result(
        of collectionOperator: FetchRequest.CollectionOperator, type: PredicateType, names: [String]
    ) throws(StoreError) -> PredicateType {
        let isAllowed: Bool
        switch collectionOperator {
        case .count: return PredicateType(.integer)
        case .union, .distinctUnion: return type.many()
        case .sum, .average: isAllowed = type.family == .number || type.family == .null
        case .minimum, .maximum: isAllowed = type.hasOrder
        }
        guard isAllowed else {
            throw invalid(
                "'\(names.joined(separator: "."))' cannot compute \(collectionOperator.rawValue) of values of type \(type.kind)."
            )
        }
        return collectionOperator == .sum || collectionOperator == .average ? PredicateType(.number) : type.element
    }

    /// Compiles a path that starts at the value of an expression.
    private mutating func path(
        of start: FetchRequest.Expression, names: [String], depth: Int
    ) throws(StoreError) -> Term {
        // Each step of a path adds a level to the recursion of the evaluation.
        let term = try expression(start, depth: depth + max(1, names.count))
        guard term.type.isCollection else {
            if term.constant?.isNull ?? false { return term }
            guard let number = try objectEntity(term, expression: start, names: names) else { return constant(.null) }
            return try path(try ResolvedPath(names, from: number, model: model), names: names, from: term)
        }
        // The start is already a collection, so a collection operator may come first.
        var collectionOperator: FetchRequest.CollectionOperator?
        var rest: [String] = []
        for (position, name) in names.enumerated() {
            guard name.hasPrefix("@") else {
                rest.append(name)
                continue
            }
            guard let found = FetchRequest.CollectionOperator(rawValue: name), collectionOperator == nil,
                found != .count || position == names.count - 1
            else {
                let known = FetchRequest.CollectionOperator.allCases.map(\.rawValue)
                throw invalid(
                    "'\(name)' cannot be used in '\(names.joined(separator: "."))'; a path can have one collection operator (\(known.joined(separator: ", "))), and @count only at its end."
                )
            }
            collectionOperator = found
        }
        if rest.isEmpty {
            return try path(
                [], end: .object, of: 0, collectionOperator: collectionOperator, isMany: true, names: names, from: term)
        }
        guard let number = try objectEntity(term, expression: start, names: names) else { return constant(.null) }
        let resolved = try ResolvedPath(rest, from: number, model: model)
        return try path(
            resolved.relationships, end: resolved.end, of: resolved.entity, collectionOperator: collectionOperator,
            isMany: true, names: names,
            from: term)
    }

    /// Returns the entity at which a path starts; nil for the ID of an unknown entity, because no
    /// such object can exist.
    private func objectEntity(
        _ term: Term, expression: FetchRequest.Expression, names: [String]
    ) throws(StoreError) -> Int? {
        if let entity = term.type.entity { return entity }
        if case .objectID = term.constant { return nil }
        throw invalid(
            "'\(names.joined(separator: "."))' needs an object of a known entity before it, but there is \(describe(term, expression: expression))."
        )
    }

    // MARK: Collections

    private mutating func list(_ members: [FetchRequest.Expression], depth: Int) throws(StoreError) -> Term {
        try requireListCount(members.count)
        var nodes: [PredicateProgram.Index] = []
        var type = PredicateType(.null)
        var isPlain = true
        for member in members {
            let term = try single(member, depth: depth + 1, in: "a list in braces")
            guard let joined = type.joined(with: term.type, model: model) else {
                throw invalid("a list cannot have values of type \(type.kind) and of type \(term.type.kind).")
            }
            type = joined
            nodes.append(term.node)
            isPlain = isPlain && term.isPlain
        }
        return Term(node: add(.list(links(nodes))), type: type.many(isOrdered: true), isPlain: isPlain)
    }

    private mutating func subquery(
        _ collection: FetchRequest.Expression, variable: String, predicate: FetchRequest.Predicate, depth: Int
    ) throws(StoreError) -> Term {
        let term = try expression(collection, depth: depth + 1)
        guard term.type.isCollection else {
            throw invalid(
                "the first argument of SUBQUERY must have many values, but is \(describe(term, expression: collection))."
            )
        }
        let slot = newVariable()
        let pathCount = parts.paths.count
        let condition = try binding(variable, slot: slot, type: term.type.element) { (compiler) throws(StoreError) in
            try compiler.condition(predicate, depth: depth + 1)
        }
        readEnds(of: term, ifPathsFrom: slot, since: pathCount)
        return Term(
            node: add(.subquery(term.node, variable: slot, condition: condition.node)), type: term.type,
            isPlain: term.isPlain && condition.isPlain)
    }

    private mutating func setOperation(
        _ operation: FetchRequest.SetOperation, left: FetchRequest.Expression, right: FetchRequest.Expression,
        depth: Int
    ) throws(StoreError) -> Term {
        let (a, b) = (try expression(left, depth: depth + 1), try expression(right, depth: depth + 1))
        guard a.type.isCollection, b.type.isCollection else {
            throw invalid("\(operation.rawValue) needs many values on both sides.")
        }
        guard let type = a.type.joined(with: b.type, model: model) else {
            throw invalid(
                "\(operation.rawValue) cannot join values of type \(a.type.kind) and of type \(b.type.kind).")
        }
        return Term(
            node: add(.setOperation(operation, a.node, b.node)), type: type.many(), isPlain: a.isPlain && b.isPlain)
    }

    private mutating func element(
        of collection: FetchRequest.Expression, index: FetchRequest.Index, depth: Int
    ) throws(StoreError) -> Term {
        let term = try expression(collection, depth: depth + 1)
        guard term.type.isCollection else {
            throw invalid(
                "an index in brackets needs many values before it, but there is \(describe(term, expression: collection))."
            )
        }
        if case .size = index {
            return Term(node: add(.size(of: term.node)), type: PredicateType(.integer), isPlain: term.isPlain)
        }
        guard term.type.isOrdered else {
            throw invalid(
                "an index in brackets needs an order, which \(describe(term, expression: collection)) does not have; use [SIZE] or an ordered relationship."
            )
        }
        switch index {
        case .first: return Term(node: add(.first(of: term.node)), type: term.type.element, isPlain: term.isPlain)
        case .last: return Term(node: add(.last(of: term.node)), type: term.type.element, isPlain: term.isPlain)
        case .size: return term
        case .position(let expression):
            let position = try single(expression, depth: depth + 1, in: "an index in brackets")
            guard [.number, .null].contains(position.type.family) else {
                throw invalid(
                    "an index in brackets must be a number, not \(describe(position, expression: expression)).")
            }
            return Term(
                node: add(.element(of: term.node, at: position.node)), type: term.type.element,
                isPlain: term.isPlain && position.isPlain)
        }
    }

    // MARK: Choices and casts

    private mutating func conditional(
        _ predicate: FetchRequest.Predicate, whenTrue: FetchRequest.Expression, whenFalse: FetchRequest.Expression,
        depth: Int
    ) throws(StoreError) -> Term {
        let condition = try self.condition(predicate, depth: depth + 1)
        let (a, b) = (
            try single(whenTrue, depth: depth + 1, in: "TERNARY"),
            try single(whenFalse, depth: depth + 1, in: "TERNARY")
        )
        guard let type = a.type.joined(with: b.type, model: model) else {
            throw invalid("TERNARY cannot choose between values of type \(a.type.kind) and of type \(b.type.kind).")
        }
        return Term(
            node: add(.conditional(condition.node, a.node, b.node)), type: type,
            isPlain: condition.isPlain && a.isPlain && b.isPlain)
    }

    private mutating func cast(
        _ value: FetchRequest.Expression, type: FetchRequest.CastType, depth: Int
    ) throws(StoreError) -> Term {
        let term = try single(value, depth: depth + 1, in: "CAST")
        let kind: PredicateType.Kind
        switch type {
        case .number: kind = .number
        case .decimal: kind = .decimal
        case .string: kind = .string
        case .date: kind = .date
        case .data: kind = .data
        case .uuid: kind = .uuid
        case .uri: kind = .uri
        case .objectID: kind = .object
        }
        // A cast of an object to an object ID preserves the entity.
        let entity = type == .objectID && term.type.kind == .object ? term.type.entity : nil
        return Term(
            node: add(.cast(type, term.type.kind, term.node)), type: PredicateType(kind, entity: entity),
            // Determining the entity of an object may require reading the object.
            isPlain: term.isPlain && term.type.family != .object)
    }
}

extension PredicateType {
    var hasOrder: Bool { ![.object, .composite, .transformable].contains(family) }
}
