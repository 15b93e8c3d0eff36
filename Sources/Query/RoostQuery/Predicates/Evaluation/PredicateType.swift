package import RoostCore

/// The type of an expression's values, as known before records are read.
package struct PredicateType: Sendable {
    package enum Kind: String, Sendable {
        case null, boolean, integer, double, decimal, number, string, uri, data, transformable, date, uuid, object
        case composite
    }

    /// A group of kinds whose values can be compared with each other.
    package enum Family: String, Sendable {
        case null, number, text, data, date, uuid, object, composite, transformable
    }

    package var kind: Kind
    /// The number of the objects' entity, if known.
    package var entity: Int?
    package var isCollection = false
    /// Whether the values are ordered, so that a value can be requested by its index.
    var isOrdered = false

    init(_ kind: Kind, entity: Int? = nil) {
        self.kind = kind
        self.entity = entity
    }

    init(_ field: RecordLayout.Field) {
        kind = Kind(field.kind)
        entity = field.destination
    }

    init(_ value: Value, model: ManagedObjectModel) {
        kind = Kind(value)
        if case .objectID(let id) = value { entity = model.entity(id.entity)?.number }
    }

    package var family: Family { kind.family }

    var element: PredicateType { PredicateType(kind, entity: entity) }

    func many(isOrdered: Bool = false) -> PredicateType {
        var many = self
        many.isCollection = true
        many.isOrdered = isOrdered
        return many
    }

    /// Returns the type of a value that has one of two types; nil if their families differ and
    /// neither is null.
    func joined(with other: PredicateType, model: ManagedObjectModel) -> PredicateType? {
        if kind == .null { return other.element }
        if other.kind == .null { return element }
        guard family == other.family else { return nil }
        switch family {
        case .number: return PredicateType(kind == other.kind ? kind : .number)
        case .text: return PredicateType(kind == other.kind ? kind : .string)
        case .object: return PredicateType(.object, entity: Self.common(entity, b: other.entity, model: model))
        default: return element
        }
    }

    /// Returns the nearest common superentity of two entities, or nil.
    private static func common(_ a: Int?, b: Int?, model: ManagedObjectModel) -> Int? {
        guard var a, let b else { return nil }
        while !model.entities[a].includes(b) {
            guard let parent = model.entities[a].superentity else { return nil }
            a = parent
        }
        return a
    }
}

extension PredicateType.Kind {
    init(_ kind: RecordLayout.Field.Kind) {
        switch kind {
        case .integer64, .integer32, .integer16, .order: self = .integer
        case .boolean: self = .boolean
        case .double, .float: self = .double
        case .decimal: self = .decimal
        case .date: self = .date
        case .string: self = .string
        case .uri: self = .uri
        case .data: self = .data
        case .transformable: self = .transformable
        case .uuid: self = .uuid
        case .reference, .polymorphicReference, .objectID: self = .object
        case .composite: self = .composite
        }
    }

    package init(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64: self = .integer
        case .decimal: self = .decimal
        case .double, .float: self = .double
        case .string: self = .string
        case .boolean: self = .boolean
        case .date: self = .date
        case .binaryData: self = .data
        case .uuid: self = .uuid
        case .uri: self = .uri
        case .objectID: self = .object
        case .transformable: self = .transformable
        case .composite: self = .composite
        case .undefined: self = .null
        }
    }

    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool: self = .boolean
        case .int: self = .integer
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .uri: self = .uri
        case .data: self = .data
        case .date: self = .date
        case .uuid: self = .uuid
        case .objectID: self = .object
        case .composite: self = .composite
        }
    }

    package var family: PredicateType.Family {
        switch self {
        case .null: .null
        case .boolean, .integer, .double, .decimal, .number: .number
        case .string, .uri: .text
        case .data: .data
        case .transformable: .transformable
        case .date: .date
        case .uuid: .uuid
        case .object: .object
        case .composite: .composite
        }
    }
}
