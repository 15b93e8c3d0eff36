package import RoostCore

/// A key path whose names were resolved to properties of a model.
///
/// A path through to-many relationships has one value for each route along the path, in the order
/// of the relationships. An object at the end of several routes gives several values.
package struct ResolvedPath: Sendable {
    package enum End: Sendable {
        /// The objects: the start of the path, or the destinations of the last relationship.
        case object
        /// A stored field: an attribute, an element of a composite, or a to-one relationship, whose
        /// value is the ID of its destination.
        ///
        /// The field belongs to ``ResolvedPath/entity``; in a subentity, it may have another
        /// offset.
        case field(RecordLayout.Field)
    }

    /// The relationships of the path, in order, without a to-one relationship at the end, which is
    /// in ``end``.
    package let relationships: [ManagedObjectModel.Relationship]
    /// The number of the entity to which the end of the path belongs.
    package let entity: Int
    package let end: End
    package let collectionOperator: FetchRequest.CollectionOperator?

    /// Whether the path has many values, which no collection operator reduces to one.
    package var isCollection: Bool {
        switch collectionOperator {
        case nil: relationships.contains { $0.isToMany }
        case .union, .distinctUnion: true
        default: false
        }
    }

    package var isLocal: Bool { relationships.isEmpty && collectionOperator == nil }

    /// Resolves a key path of property names and at most one collection operator.
    ///
    /// `objectID` refers to the object, unless a property has this name.
    ///
    /// - Throws: `unknownProperty`, with the most similar name; `invalidRequest` for a path that
    ///   continues after an attribute, or for a misplaced collection operator.
    package init(_ names: [String], from entity: Int, model: ManagedObjectModel) throws(StoreError) {
        try self.init(names, from: entity, model: model) { $0 }
    }

    /// Resolves a key path; `spelling` converts a name suggested in a message to the path's syntax.
    init(
        _ names: [String], from entity: Int, model: ManagedObjectModel, spelling: (String) -> String
    ) throws(StoreError) {
        // Most paths are the name of a single field, which needs no further checks.
        if names.count == 1, let field = model.entities[entity].layout.field(names[0]) {
            (relationships, self.entity, end, collectionOperator) = ([], entity, .field(field), nil)
            return
        }
        var relationships: [ManagedObjectModel.Relationship] = []
        var collectionOperator: FetchRequest.CollectionOperator?
        var current = model.entities[entity]
        var end = End.object
        var position = 0
        while position < names.count {
            let name = names[position]
            if name.hasPrefix("@") {
                collectionOperator = try Self.collectionOperator(
                    name, after: collectionOperator, isCollection: relationships.contains { $0.isToMany },
                    isLast: position == names.count - 1)
                position += 1
                continue
            }
            if let relationship = current.relationship(name), relationship.isToMany || position < names.count - 1 {
                relationships.append(relationship)
                current = model.entities[relationship.destination]
                position += 1
                continue
            }
            let rest = names[position...]
            // The names of a field (several in a composite) may be followed by an operator.
            let path = rest.prefix { !$0.hasPrefix("@") }
            if path == ["objectID"], current.layout.field("objectID") == nil {
                position += 1
            } else {
                end = .field(try Self.field(Array(path), of: current, model: model, spelling))
                position += path.count
            }
            if position < names.count {
                guard collectionOperator == nil, names[position] == FetchRequest.CollectionOperator.count.rawValue,
                    position == names.count - 1, relationships.contains(where: { $0.isToMany })
                else {
                    throw StoreError(
                        .invalidRequest,
                        "In a key path of '\(model.entities[entity].name)', '\(names[position])' cannot follow a value; write it after the relationship, as in albums.@sum.price."
                    )
                }
                collectionOperator = .count
                position += 1
            }
        }
        if let collectionOperator, case .object = end {
            try Self.requireCount(collectionOperator, from: model.entities[entity])
        }
        self.relationships = relationships
        self.entity = current.number
        self.end = end
        self.collectionOperator = collectionOperator
    }

    /// Throws if the operator of a path that ends at objects requires an attribute.
    private static func requireCount(
        _ collectionOperator: FetchRequest.CollectionOperator, from entity: ManagedObjectModel.Entity
    ) throws(StoreError) {
        switch collectionOperator {
        case .count, .union, .distinctUnion: return
        default:
            throw StoreError(
                .invalidRequest,
                "In a key path of '\(entity.name)', '\(collectionOperator.rawValue)' needs the name of an attribute after it, as in albums.@sum.price."
            )
        }
    }

    private static func collectionOperator(
        _ name: String, after previous: FetchRequest.CollectionOperator?, isCollection: Bool, isLast: Bool
    ) throws(StoreError) -> FetchRequest.CollectionOperator {
        guard let found = FetchRequest.CollectionOperator(rawValue: name) else {
            let names = FetchRequest.CollectionOperator.allCases.map(\.rawValue)
            let hint = nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            throw StoreError(
                .invalidRequest,
                "The collection operator '\(name)' is unknown; \(hint ?? "the operators are \(names.joined(separator: ", ")).")"
            )
        }
        guard previous == nil, isCollection else {
            throw StoreError(
                .invalidRequest,
                previous == nil
                    ? "'\(name)' needs a to-many relationship before it."
                    : "A key path can have one collection operator only.")
        }
        guard found != .count || isLast else {
            throw StoreError(.invalidRequest, "'@count' must be the last part of a key path.")
        }
        return found
    }

    private static func field(
        _ names: [String], of entity: ManagedObjectModel.Entity, model: ManagedObjectModel,
        _ spelling: (String) -> String
    ) throws(StoreError) -> RecordLayout.Field {
        let name = names.joined(separator: ".")
        if let field = entity.layout.field(name) { return field }
        if let attribute = names.first.flatMap({ entity.attribute($0) }) {
            if attribute.isTransient {
                throw StoreError(
                    .unknownProperty, "'\(entity.name).\(attribute.name)' is transient, so no store has its value.")
            }
            if names.count > 1, attribute.type != .composite {
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name).\(attribute.name)' is neither a relationship nor a composite, so it has no '\(names.dropFirst().joined(separator: "."))'."
                )
            }
        }
        if name == "id" {
            throw StoreError(
                .unknownProperty,
                "Entity '\(entity.name)' has no property 'id'; the object itself is SELF, as in SELF = 5.")
        }
        let known = entity.layout.fields.map(\.name) + entity.relationships.map(\.name.name)
        // The misspelled name may be the first of several.
        let isNear = names.count == 1 || nearestName(to: name, among: known) != nil
        let hint = entity.hint(forUnknown: isNear ? name : names[0], among: known, spelling)
        // The property may belong to a subentity, which the message then names.
        let isKnown = names.first.map { entity.attribute($0) != nil || entity.relationship($0) != nil } ?? false
        let owner = entity.selfAndSubentities.first { number in
            let candidate = model.entities[number]
            guard candidate !== entity, !isKnown, let first = names.first else { return false }
            return candidate.attribute(first) != nil || candidate.relationship(first) != nil
        }
        let other = owner.map { "; its subentity '\(model.entities[$0].name)' has it; fetch that entity instead." }
        throw StoreError(
            .unknownProperty, "Entity '\(entity.name)' has no stored property '\(name)'\(other ?? hint)")
    }
}
