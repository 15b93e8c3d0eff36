/// A fetch request's predicate, compiled against record layouts: tells of packed records whether they are wanted.
///
/// This is the meaning of predicates. Engines may find records by other means, but never others than these.
public struct RecordFilter: Sendable {
    private let program: FilterProgram

    /// Compiles the predicate of a request.
    ///
    /// - Throws: `unknownEntity`, `unknownProperty`; `invalidRequest` for values that can never be compared (a string attribute
    ///   with a number), for a negative limit or offset, and for nesting deeper than ``maximumDepth``.
    public init(_ request: FetchRequest, model: ManagedObjectModel) throws(StoreError) {
        let entity = try model.requireEntity(request.entity)
        guard request.fetchLimit ?? 0 >= 0, request.fetchOffset >= 0 else {
            throw StoreError(
                .invalidRequest, "The limit and the offset of a fetch of '\(request.entity)' must not be negative.")
        }
        // Records of entities that the request does not ask for are never wanted.
        var nodes = [Node?](repeating: nil, count: model.entities.count)
        // The key paths must be those of the requested entity, even where only a subentity would have them.
        let compiled = try request.predicate.map { (predicate) throws(StoreError) in
            try Node(predicate, PredicateScope(model: model, entity: entity), depth: 0)
        }
        for number in request.includesSubentities ? entity.selfAndSubentities : [entity.number] {
            if let predicate = request.predicate, number != entity.number {
                nodes[number] = try Node(
                    predicate, PredicateScope(model: model, entity: model.entities[number]), depth: 0)
            } else {
                nodes[number] = compiled ?? .constant(true)
            }
        }
        program = FilterProgram(nodes, model: model)
    }

    /// How deep a predicate may be nested.
    public static let maximumDepth = 200

    /// Whether the record is of an entity that the request asks for and meets its predicate.
    public func matches(_ record: RecordReader) -> Bool { program.matches(record) }

    /// A predicate with fields in the place of names.
    indirect enum Node: Sendable {
        case constant(Bool)
        case comparison(PredicateTerm, FetchRequest.Comparison.Operator, PredicateTerm)
        case isIn(PredicateTerm, [PredicateTerm])
        case and([Node])
        case or([Node])
        case not(Node)

        init(_ predicate: FetchRequest.Predicate, _ scope: PredicateScope, depth: Int) throws(StoreError) {
            guard depth < RecordFilter.maximumDepth else {
                throw StoreError(
                    .invalidRequest, "The predicate is nested deeper than \(RecordFilter.maximumDepth) levels.")
            }
            switch predicate {
            case .constant(let truth): self = .constant(truth)
            case .comparison(let comparison): self = try Self.comparison(comparison, scope)
            case .and(let members): self = .and(try Self.nodes(members, scope, depth))
            case .or(let members): self = .or(try Self.nodes(members, scope, depth))
            case .not(let member): self = .not(try Node(member, scope, depth: depth + 1))
            }
        }

        private static func nodes(
            _ members: [FetchRequest.Predicate], _ scope: PredicateScope, _ depth: Int
        ) throws(StoreError) -> [Node] {
            var nodes: [Node] = []
            for member in members { nodes.append(try Node(member, scope, depth: depth + 1)) }
            return nodes
        }

        private static func comparison(
            _ comparison: FetchRequest.Comparison, _ scope: PredicateScope
        ) throws(StoreError) -> Node {
            switch comparison.operator {
            case .between, .contains, .endsWith, .like, .matches:
                throw StoreError(.unsupported, "Stores do not answer \(comparison.operator.rawValue) yet.")
            default: break
            }
            guard comparison.modifier == .direct, comparison.options.isEmpty else {
                throw StoreError(.unsupported, "Stores do not answer quantifiers and string options yet.")
            }
            let left = try scope.term(comparison.left)
            if comparison.operator == .isIn {
                guard case .aggregate(let members) = comparison.right else {
                    throw StoreError(.invalidRequest, "The right side of IN must be a list of values.")
                }
                var terms: [PredicateTerm] = []
                for member in members {
                    let term = try scope.term(member)
                    try scope.requireComparable(left, term, .equal)
                    terms.append(term)
                }
                return .isIn(left, terms)
            }
            let right = try scope.term(comparison.right)
            try scope.requireComparable(left, right, comparison.operator)
            return .comparison(left, comparison.operator, right)
        }
    }
}

/// One side of a comparison with a field in the place of a name.
enum PredicateTerm: Sendable {
    case field(RecordLayout.Field)
    case constant(PredicateConstant, PredicateScope.Family)
    case evaluatedObject
}

/// The entity whose properties a predicate's names mean, and what may be compared with what.
struct PredicateScope {
    let model: ManagedObjectModel
    let entity: ManagedObjectModel.Entity

    /// Values that compare with each other.
    enum Family: String, Sendable {
        case null, number, text, data, date, uuid, object, composite, transformable

        init(_ kind: RecordLayout.Field.Kind) {
            switch kind {
            case .integer64, .integer32, .integer16, .boolean, .double, .float, .decimal, .order: self = .number
            case .date: self = .date
            case .string, .uri: self = .text
            case .data: self = .data
            case .transformable: self = .transformable
            case .uuid: self = .uuid
            case .reference, .polymorphicReference, .objectID: self = .object
            case .composite: self = .composite
            }
        }

        init(_ value: Value) {
            switch value {
            case .null: self = .null
            case .bool, .int, .double, .decimal: self = .number
            case .string, .uri: self = .text
            case .data: self = .data
            case .date: self = .date
            case .uuid: self = .uuid
            case .objectID: self = .object
            case .composite: self = .composite
            }
        }
    }

    func term(_ expression: FetchRequest.Expression) throws(StoreError) -> PredicateTerm {
        switch expression {
        case .constant(let value): return .constant(PredicateConstant(value, model: model), Family(value))
        case .evaluatedObject: return .evaluatedObject
        case .keyPath(let path): return .field(try entity.layout.requireField(path.joined(separator: ".")))
        case .aggregate: throw StoreError(.invalidRequest, "A list of values can only stand on the right side of IN.")
        default: throw StoreError(.unsupported, "Stores do not answer this expression yet.")
        }
    }

    func requireComparable(
        _ left: PredicateTerm, _ right: PredicateTerm, _ comparison: FetchRequest.Comparison.Operator
    ) throws(StoreError) {
        let (a, b) = (family(left), family(right))
        let isTest = comparison == .equal || comparison == .notEqual
        if a == .null || b == .null { return }
        // The bytes of a transformable value can be compared with data, for equality only.
        let same = a == b || (isTest && Set([a, b]) == [.data, .transformable])
        let allowed: Bool
        switch comparison {
        case .equal, .notEqual, .isIn: allowed = same && a != .composite
        case .beginsWith: allowed = a == .text && b == .text
        default: allowed = same && ![.object, .composite, .transformable].contains(a)
        }
        guard allowed else {
            throw StoreError(
                .invalidRequest,
                "In a predicate on '\(entity.name)', \(describe(left)) cannot be compared with \(describe(right)) by \(comparison.rawValue)."
            )
        }
    }

    private func family(_ term: PredicateTerm) -> Family {
        switch term {
        case .field(let field): Family(field.kind)
        case .constant(_, let family): family
        case .evaluatedObject: .object
        }
    }

    private func describe(_ term: PredicateTerm) -> String {
        switch term {
        case .field(let field): "'\(field.name)' (\(field.kind))"
        case .constant(_, let family): "a \(family.rawValue) constant"
        case .evaluatedObject: "the object itself"
        }
    }
}
