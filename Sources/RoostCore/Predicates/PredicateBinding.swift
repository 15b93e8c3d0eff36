internal import Foundation

/// Gives the names and values of a predicate's text the meaning they have for one entity.
struct PredicateBinding {
    /// One side of a comparison.
    enum Side {
        case literal(PredicateLiteral)
        case property([String], RecordLayout.Field)
        case object
    }

    let entity: ManagedObjectModel.Entity
    let model: ManagedObjectModel

    /// The stored property that a path means.
    ///
    /// - Throws: `unknownProperty`, naming the nearest one; `unsupported` for what cannot be compared yet.
    func property(_ path: [String]) throws(StoreError) -> Side {
        let name = path.joined(separator: ".")
        if let field = entity.layout.field(name) { return .property(path, field) }
        if let first = path.first, let relationship = entity.relationship(first) {
            throw StoreError(
                .unsupported,
                relationship.isToMany
                    ? "'\(entity.name).\(first)' leads to many objects; predicates on those are not supported yet."
                    : "'\(name)' leads through the relationship '\(first)'; predicates on other objects' properties are not supported yet."
            )
        }
        if path == ["id"] || path == ["objectID"] {
            throw StoreError(
                .unknownProperty,
                "Entity '\(entity.name)' has no property '\(name)'; the object itself is SELF, as in SELF = 5.")
        }
        if let attribute = path.first.flatMap({ entity.attribute($0) }), attribute.isTransient {
            throw StoreError(
                .unknownProperty, "'\(entity.name).\(attribute.name)' is transient, so no store has its value.")
        }
        return .property(path, try entity.layout.requireField(name))
    }

    func comparison(
        _ left: Side, _ comparison: FetchRequest.Comparison.Operator, _ right: Side
    ) throws(StoreError) -> FetchRequest.Predicate {
        // A prefix stays text whatever it meets; the filter says what has none.
        let isPrefix = comparison == .beginsWith
        return .comparison(
            .init(
                try expression(left, meeting: isPrefix ? nil : right), comparison,
                try expression(right, meeting: isPrefix ? nil : left)))
    }

    func membership(_ left: Side, _ members: [Side]) throws(StoreError) -> FetchRequest.Predicate {
        var expressions: [FetchRequest.Expression] = []
        for member in members { expressions.append(try expression(member, meeting: left)) }
        // A value on the left takes the type of the first property in the list, if there is one.
        let meeting = members.first { if case .literal = $0 { false } else { true } }
        return .comparison(.init(try expression(left, meeting: meeting), .isIn, .aggregate(expressions)))
    }

    private func expression(_ side: Side, meeting other: Side?) throws(StoreError) -> FetchRequest.Expression {
        switch (side, other) {
        case (.property(let path, _), _): return .keyPath(path)
        case (.object, _): return .evaluatedObject
        case (.literal(let literal), .property(_, let field)): return .constant(try value(literal, field))
        case (.literal(let literal), .object):
            return .constant(try object(literal, entity.number, "SELF"))
        case (.literal(let literal), _):
            guard let value = literal.value else {
                throw StoreError(.invalidValue, "A number of the predicate is larger than any type holds.")
            }
            return .constant(value)
        }
    }

    // MARK: Values of a property's type

    private func value(_ literal: PredicateLiteral, _ field: RecordLayout.Field) throws(StoreError) -> Value {
        switch literal {
        case .null: return .null
        case .typed(let value): return value
        default: break
        }
        switch field.kind {
        case .integer64, .integer32, .integer16, .order, .boolean, .double:
            if case .string = literal { break }
            if let value = literal.value { return value }
        case .float:
            if case .string = literal { break }
            if case .number(let text) = literal, PredicateLiteral.isMeantAsFloat(text) {
                if let number = Float(text), number.isFinite { return .double(Double(number)) }
            } else if let value = literal.value {
                return value
            }
        case .decimal:
            if case .bool(let flag) = literal { return .bool(flag) }
            if case .number(let text) = literal, let number = DecimalNumber(utf8: text.utf8) {
                return .decimal(number.decimal)
            }
        case .string: if case .string(let text) = literal { return .string(text) }
        case .uri: if case .string(let text) = literal { return .uri(text) }
        case .date:
            if case .string(let text) = literal, let seconds = DateText.seconds(text) {
                return .date(Date(timeIntervalSinceReferenceDate: seconds))
            }
        case .uuid: if case .string(let text) = literal, let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case .data, .transformable:
            if case .string(let text) = literal, let data = Data(base64Encoded: text) { return .data(data) }
        case .reference, .polymorphicReference, .objectID:
            return try object(literal, field.destination, "'\(entity.name).\(field.name)'")
        case .composite:
            throw StoreError(
                .invalidRequest,
                "'\(entity.name).\(field.name)' is a composite, which is null or not; compare one of its elements.")
        }
        throw StoreError(
            .invalidValue,
            "'\(entity.name).\(field.name)' (\(field.kind)) is compared with \(literal.kindDescription), but \(Self.expected(field.kind)) is needed."
        )
    }

    private func object(
        _ literal: PredicateLiteral, _ destination: Int?, _ name: String
    ) throws(StoreError) -> Value {
        switch literal {
        case .null: return .null
        case .typed(let value): return value
        case .number(let text):
            if let key = Int64(text), key > 0, let destination {
                return .objectID(ObjectID(model.entities[destination].name, key))
            }
        case .string(let text): if let id = model.objectID(text) { return .objectID(id) }
        case .bool: break
        }
        let example = destination.map { model.entities[$0].name.text } ?? entity.name.text
        throw StoreError(
            .invalidValue,
            "\(name) is compared with \(literal.kindDescription), but an object is needed: \(destination == nil ? "" : "its key, or ")\"\(example)/5\" with the name of an entity."
        )
    }

    /// What may be written for a value of a field of this kind.
    private static func expected(_ kind: RecordLayout.Field.Kind) -> String {
        switch kind {
        case .string, .uri: "a string in quotes"
        case .date:
            "a date such as \"2024-05-01\" or \"2024-05-01T12:30:00Z\", or CAST(seconds since 2001, \"NSDate\"),"
        case .uuid: "a UUID in quotes"
        case .data, .transformable: "base64 in quotes"
        case .boolean: "TRUE or FALSE"
        case .decimal: "a number of at most 38 digits"
        default: "a number in range"
        }
    }
}
