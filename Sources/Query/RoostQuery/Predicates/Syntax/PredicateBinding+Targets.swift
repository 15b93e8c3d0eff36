internal import RoostCore

/// Determines the target of each literal: the operand type that decides the literal's type.
extension PredicateBinding {
    struct Shape {
        /// The target of a literal that is compared with the operand or with one of its elements;
        /// nil if only the notation of the literal matters.
        var target: Target?
        var isMany = false
    }

    /// Returns the targets of the literals on both sides of a comparison.
    func targets(of comparison: PredicateSyntax.Comparison) throws(StoreError) -> (left: Target?, right: Target?) {
        guard scope != nil else { return (nil, nil) }
        let (left, right) = (try shape(of: comparison.left), try shape(of: comparison.right))
        switch comparison.operator {
        // These operators compare text, so the type of the other operand does not matter.
        case .beginsWith, .endsWith, .like, .matches: return (nil, nil)
        case .contains where !left.isMany: return (nil, nil)
        case .isIn where !right.isMany: return (nil, nil)
        default: return (right.target, left.target)
        }
    }

    /// Returns the target of literals inside an operand with members.
    ///
    /// `outer` is the target of the whole operand, if any.
    func target(
        ofMembersOf operand: PredicateSyntax.Operand, meeting outer: Target?
    ) throws(StoreError) -> Target? {
        guard scope != nil else { return nil }
        switch operand {
        case .aggregate: return outer
        case .function(let function, let arguments):
            switch function {
            case .add, .subtract, .multiply, .divide, .power, .modulus:
                return try common(arguments) ?? (outer?.kind == .decimal ? outer?.computed : nil)
            case .negate, .absolute, .floor, .ceiling, .truncate, .noIndex, .sum, .minimum, .maximum, .average, .median,
                .mode:
                return try common(arguments) ?? outer?.computed
            default: return nil
            }
        case .conditional(_, let first, let second), .setOperation(_, let first, let second):
            return try common([first, second]) ?? outer?.computed
        case .element(let base, .first), .element(let base, .last), .element(let base, .position):
            return try common([base]) ?? outer?.computed
        default: return nil
        }
    }

    /// Returns a decimal target of the operands, or else the first target.
    private func common(_ operands: [PredicateSyntax.Operand]) throws(StoreError) -> Target? {
        var common: Target?
        for operand in operands {
            guard let target = try shape(of: operand).target?.computed else { continue }
            if common == nil || target.kind == .decimal { common = target }
        }
        return common
    }

    func shape(of operand: PredicateSyntax.Operand) throws(StoreError) -> Shape {
        guard let scope else { return Shape() }
        switch operand {
        case .literal, .registered: return Shape()
        case .evaluatedObject:
            return Shape(target: Target(kind: .reference, destination: scope.entity.number, property: "SELF"))
        case .variable(let name, _):
            guard let entity = scope.variables[name] ?? nil else { return Shape() }
            return Shape(target: Target(kind: .reference, destination: entity, property: "$\(name)"))
        case .keyPath(let names, let place):
            let operation = names.first.flatMap { FetchRequest.CollectionOperator(rawValue: $0) }
            guard scope.isOfGroups, let operation, operation.isAggregate else {
                return try path(names, from: scope.entity.number, at: place)
            }
            return try aggregate(operation, names: names, of: scope.entity, at: place)
        case .path(let base, let names, let place):
            let base = try shape(of: base)
            guard let start = base.target, start.isObject, let entity = start.destination else { return Shape() }
            return try path(names, from: entity, ofMany: base.isMany, at: place)
        case .subquery(let collection, _, _):
            return Shape(target: try shape(of: collection).target, isMany: true)
        case .element(_, .size): return Shape()
        case .cast(_, let type): return Shape(target: Target(cast: type))
        case .aggregate(let members):
            for member in members {
                if let target = try shape(of: member).target { return Shape(target: target, isMany: true) }
            }
            return Shape(isMany: true)
        case .function(let function, let arguments): return try shape(of: function, arguments: arguments)
        case .setOperation: return Shape(target: try target(ofMembersOf: operand, meeting: nil), isMany: true)
        case .conditional(_, let first, let second):
            let (first, second) = (try shape(of: first), try shape(of: second))
            return Shape(target: (first.target ?? second.target)?.computed, isMany: first.isMany || second.isMany)
        case .element(let base, _): return Shape(target: try shape(of: base).target?.computed)
        }
    }

    private func shape(
        of function: FetchRequest.Function, arguments: [PredicateSyntax.Operand]
    ) throws(StoreError) -> Shape {
        switch function {
        case .now: return Shape(target: Target(kind: .date))
        case .uppercase, .lowercase, .canonical: return Shape(target: Target(kind: .string))
        case .noIndex: return try arguments.first.map(shape) ?? Shape()
        case .subtract, .divide, .sum, .average, .median:
            let target = try common(arguments)
            return Shape(target: target?.kind == .decimal ? target : nil)
        default: return Shape(target: try target(ofMembersOf: .function(function, arguments), meeting: nil))
        }
    }

    /// Returns the shape of a path that begins with an operator over the objects of a group.
    private func aggregate(
        _ operation: FetchRequest.CollectionOperator, names: [String], of entity: ManagedObjectModel.Entity,
        at place: String.Index
    ) throws(StoreError) -> Shape {
        guard names.count > 1 || operation == .count else {
            throw located(
                .invalidRequest,
                message:
                    "'\(operation.rawValue)' of a group needs the name of an attribute after it, as in \(operation.rawValue).price.",
                at: place)
        }
        guard names.count > 1 else { return Shape() }
        let values = try path(Array(names.dropFirst()), from: entity.number, at: place)
        guard !values.isMany else {
            throw located(.invalidRequest, message: FetchRequest.Expression.manyOfEach(names), at: place)
        }
        return try path(names, from: entity.number, ofMany: true, at: place)
    }

    /// Returns the shape of a key path that starts at one object, or at many objects.
    private func path(
        _ names: [String], from entity: Int, ofMany: Bool = false, at place: String.Index
    ) throws(StoreError) -> Shape {
        guard let model = scope?.model else { return Shape() }
        var names = names
        var collectionOperator: FetchRequest.CollectionOperator?
        if ofMany, let first = names.first.flatMap({ FetchRequest.CollectionOperator(rawValue: $0) }) {
            collectionOperator = first
            names.removeFirst()
        } else if ofMany, names.last == FetchRequest.CollectionOperator.count.rawValue {
            collectionOperator = .count
            names.removeLast()
        }
        let resolved: ResolvedPath
        do throws(StoreError) {
            resolved = try ResolvedPath(names, from: entity, model: model) { name in
                PredicatePrinter.path(name.split(separator: ".").map(String.init))
            }
        } catch {
            throw tokenizer?.locate(error, at: place) ?? error
        }
        let target: Target
        switch resolved.end {
        case .object:
            target = Target(
                kind: .reference, destination: resolved.entity, property: "'\(names.joined(separator: "."))'",
                path: names)
        case .field(let field):
            target = Target(
                kind: field.kind, destination: field.destination,
                property: "'\(model.entities[resolved.entity].name).\(field.name)'", path: names)
        }
        switch collectionOperator ?? resolved.collectionOperator {
        case .count: return Shape()
        case .sum, .average: return Shape(target: target.kind == .decimal ? target.computed : nil)
        case .minimum, .maximum: return Shape(target: target)
        case .union, .distinctUnion: return Shape(target: target, isMany: true)
        case nil: return Shape(target: target, isMany: ofMany || resolved.isCollection)
        }
    }
}

extension PredicateBinding.Target {
    var isObject: Bool { kind == .reference || kind == .polymorphicReference || kind == .objectID }

    fileprivate init?(cast type: FetchRequest.CastType) {
        switch type {
        case .number: return nil
        case .decimal: self.init(kind: .decimal)
        case .string: self.init(kind: .string)
        case .date: self.init(kind: .date)
        case .data: self.init(kind: .data)
        case .uuid: self.init(kind: .uuid)
        case .uri: self.init(kind: .uri)
        case .objectID: self.init(kind: .objectID)
        }
    }
}

extension FetchRequest.CollectionOperator {
    /// Whether the operator reduces many values to one.
    var isAggregate: Bool { self != .union && self != .distinctUnion }
}
